/** Matches each complete `{{ … }}` and `{% … %}`. */
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

/** Returns whether a text has only Liquid tags, which show nothing. */
export function isLogicOnly(said: string): boolean {
  return said.replaceAll(/\{%[\s\S]*?%\}/g, '').trim() === '';
}

/** Returns whether a `<br>` (shown as a new line) is inside Liquid. As plain text it would change the Liquid. */
export function hasMarkup(said: string): boolean {
  return [...said.matchAll(LIQUID)].some(([whole]) => whole.includes('\n'));
}
