/** The characters of the bytes 0x80 to 0x9F in Windows-1252. Source: https://encoding.spec.whatwg.org/#windows-1252 */
const LETTERS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/**
 * Replaces C1 control characters by the characters of Windows-1252. Node 20 decodes `windows-1252` and `iso-8859-1` as
 * Latin-1, so quotes, dashes and the euro sign in email from Outlook become control characters. Real text does not
 * contain such control characters.
 */
export function replaceC1Controls(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (char) => LETTERS[char.charCodeAt(0) - 0x80] ?? char);
}
