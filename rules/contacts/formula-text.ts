/** What spreadsheets take for the beginning of a formula (OWASP, CSV injection), after any apostrophes. */
const FORMULA = /^'*[=+\-@\t\r]/;
const MADE_TEXT = /^'+[=+\-@\t\r]/;

/**
 * A text as a spreadsheet shows it and does not run it: an apostrophe before what begins a formula. One that begins
 * with an apostrophe and a formula gets another, so that `takenBack` gives back exactly what was written.
 */
export function madeText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** What `madeText` was given; undefined where it did nothing. */
export function takenBack(text: string): string | undefined {
  return MADE_TEXT.test(text) ? text.slice(1) : undefined;
}
