import { typeOfText } from './column-types.ts';

/** Characters with which a formula starts in a spreadsheet (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED_TEXT = /^="((?:[^"]|"")*)"$/s;

/**
 * Marks a text with an apostrophe if a spreadsheet would run it as a formula, or an import would read it as a number, a
 * boolean, a list or an object. A text that already starts with an apostrophe followed by such a text gets another one,
 * so that `unescapeFormula` returns exactly the original.
 */
export function escapeFormula(text: string): string {
  return needsMark(text) ? `'${text}` : text;
}

/**
 * Returns the original of a text that `escapeFormula` has marked, or that another program has written as the formula `="007"`
 * to keep its zeros. Undefined for a text without such a mark.
 */
export function unescapeFormula(text: string): string | undefined {
  const quoted = QUOTED_TEXT.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('""', '"');
  return text.startsWith("'") && needsMark(text) ? text.slice(1) : undefined;
}

function needsMark(text: string): boolean {
  const bare = text.replace(/^'+/, '');
  return FORMULA.test(bare) || typeOfText(bare) !== 'text';
}
