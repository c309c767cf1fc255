import { typeOfText } from './column-types.ts';

/** Spreadsheets take these characters for the beginning of a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A text as a spreadsheet shows it and does not run it, and as an import reads it as text: an apostrophe before what
 * begins a formula, or looks like a number, a truth value, a list or an object. One that begins with an apostrophe and
 * such a text gets another, so that `takenBack` gives back exactly what was written.
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
