const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const SPECIAL = /[&<>"']/;

/** Returns a value as the text that a template shows: nothing for null, JSON for an object or a list. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  // Liquid's own values, such as `empty` and the counters of loops, have their own string form and no JSON.
  if (typeof value !== 'object' || !isJson(value)) return String(value);
  return JSON.stringify(value);
}

function isJson(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns a value as text that is safe in HTML text and in quoted attributes. The entities match liquidjs. */
export function escapeHtml(value: unknown): string {
  const text = plainText(value);
  return SPECIAL.test(text) ? text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char) : text;
}
