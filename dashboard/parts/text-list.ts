/** Tells whether a value is a list of strings, such as a contact's tags. */
export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
