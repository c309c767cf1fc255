const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const SPECIAL = /[&<>"']/;

/** A value as the text a template shows: nothing for null, a list without separators, as Liquid has it. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(plainText).join('');
  return String(value);
}

/** The text of a value, safe in HTML text and in quoted attributes; the entities are those of liquidjs. */
export function escapeHtml(value: unknown): string {
  const text = plainText(value);
  return SPECIAL.test(text) ? text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char) : text;
}
