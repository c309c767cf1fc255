import { typeOfText } from './column-types.ts';

/** Spreadsheets take these characters for the beginning of a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Returns a text so that a spreadsheet shows it and does not run it, and an import reads it as text: with an
 * apostrophe before the start of a formula, or before a text that looks like a number, a boolean, a list or an
 * object. A text that already starts with an apostrophe followed by such a text gets another one, so that `takenBack`
 * returns exactly the original.
 */
export function madeText(text: string): string {
  return needsMark(text) ? `'${text}` : text;
}

/** The text before `madeText` marked it; undefined for a text that it leaves alone. */
export function takenBack(text: string): string | undefined {
  return text.startsWith("'") && needsMark(text) ? text.slice(1) : undefined;
}

function needsMark(text: string): boolean {
  const bare = text.replace(/^'+/, '');
  return FORMULA.test(bare) || typeOfText(bare) !== 'text';
}
