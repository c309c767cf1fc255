import { Decimal } from 'decimal.js';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const SPECIAL = /[&<>"']/;

/**
 * Converts a value to the text that a template shows: empty text for null, for undefined and for numbers that are not
 * finite, JSON for an object or a list, and numbers without an exponent.
 */
export function toPlainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value !== 'object') return String(value);
  if (isJson(value)) return JSON.stringify(value);
  // Some values of the library, such as `nil`, `empty` and `forloop`, have no text.
  const text = String(value);
  return text === '[object Object]' ? '' : text;
}

/** Writes a number without an exponent. */
function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '';
  const text = String(value);
  return text.includes('e') ? new Decimal(value).toFixed() : text;
}

function isJson(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Converts a value to text that is safe in HTML text and in quoted attributes. Uses the same entities as liquidjs. */
export function escapeHtml(value: unknown): string {
  const text = toPlainText(value);
  return SPECIAL.test(text) ? text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char) : text;
}
