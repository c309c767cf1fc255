import { detectCellType } from './column-types.ts';

/** Characters with which a formula starts in a spreadsheet (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED_TEXT = /^="((?:[^"]|"")*)"$/s;

/**
 * Marks a text with an apostrophe if a spreadsheet would run it as a formula, or an import would read it as a number, a
 * boolean, a list or an object. If such a text already starts with apostrophes, it gets another one, so that
 * `unescapeFormula` returns exactly the original.
 */
export function escapeFormula(text: string): string {
  return needsApostrophe(text) ? `'${text}` : text;
}

/**
 * Reverses `escapeFormula`. Also reads text that another program wrote as a formula to keep leading zeros, such as
 * `="007"`. Undefined if the text is neither.
 */
export function unescapeFormula(text: string): string | undefined {
  const quoted = QUOTED_TEXT.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('""', '"');
  return text.startsWith("'") && needsApostrophe(text) ? text.slice(1) : undefined;
}

function needsApostrophe(text: string): boolean {
  const bare = text.replace(/^'+/, '');
  return FORMULA.test(bare) || detectCellType(bare) !== 'text';
}
