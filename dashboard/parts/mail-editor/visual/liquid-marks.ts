/** `{{ … }}` and `{% … %}`, each whole. */
export const LIQUID = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;

/** Returns whether Liquid is still open at the end of a text, given whether it was open at its start. */
export function hasOpenLiquid(said: string, wasOpen: boolean): boolean {
  const rest = wasOpen ? afterClose(said) : said;
  return rest === undefined || /\{\{|\{%/.test(rest.replaceAll(LIQUID, ''));
}

function afterClose(said: string): string | undefined {
  const close = /[%}]\}/.exec(said);
  return close ? said.slice(close.index + 2) : undefined;
}

/** Whether a text is tags of Liquid and nothing that is shown. */
export function isLogicOnly(said: string): boolean {
  return said.replaceAll(/\{%[\s\S]*?%\}/g, '').trim() === '';
}

/** Whether a `<br>` (a new line as it is shown) stands inside of Liquid: as text it would be another one. */
export function holdsMarkup(said: string): boolean {
  return [...said.matchAll(LIQUID)].some(([whole]) => whole.includes('\n'));
}
