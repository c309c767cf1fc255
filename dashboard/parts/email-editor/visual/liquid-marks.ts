/** Matches each complete `{{ … }}` and `{% … %}`. */
export const LIQUID = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;

/** Returns whether Liquid is still open at the end of a text, given whether it was open at its start. */
export function isLiquidOpenAtEnd(source: string, wasOpen: boolean): boolean {
  const rest = wasOpen ? afterClose(source) : source;
  return rest === undefined || /\{\{|\{%/.test(rest.replaceAll(LIQUID, ''));
}

function afterClose(source: string): string | undefined {
  const close = /[%}]\}/.exec(source);
  return close ? source.slice(close.index + 2) : undefined;
}

/** Returns whether a text has only Liquid tags, which show nothing. */
export function isLogicOnly(source: string): boolean {
  return source.replaceAll(/\{%[\s\S]*?%\}/g, '').trim() === '';
}

/**
 * Returns whether Liquid in a shown text contains a `<br>` (shown as a new line). Editing it as plain text would change
 * the Liquid.
 */
export function hasLineBreakInLiquid(source: string): boolean {
  return [...source.matchAll(LIQUID)].some(([whole]) => whole.includes('\n'));
}
