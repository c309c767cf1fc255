/** Texts in their order, such as a contact's tags. */
export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The texts of a list that is kept as JSON; none where it is something else. */
export function textsIn(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json);
    return isTextList(value) ? value : [];
  } catch {
    return []; // Of an input that was another type's before.
  }
}
