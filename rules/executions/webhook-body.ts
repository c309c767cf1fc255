import { type InterpolateOptions, interpolate, interpolateJson } from '../content/interpolate.ts';
import { escapeHtml } from '../content/plain-value.ts';
import type { Data } from '../filters/data-values.ts';
import { buildWebhookPayload, type PayloadSource } from './webhook-payload.ts';
import { encodeForUrl } from './webhook-url.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;
const XML_TYPE = /^(?:text|application)\/(?:[\w.+-]+\+)?(?:xml|html)$/;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Writes the body of a WEBHOOK step's request, in the form of its Content-Type. A text stays a text. Its variables are
 * filled in and escaped for the Content-Type, so that JSON text is still valid JSON, and XML is still valid XML. Any
 * other value is encoded as a form for the content type of forms, and as JSON for all other types.
 */
export function writeWebhookBody(
  config: { body?: unknown; headers?: Record<string, string> | undefined },
  source: PayloadSource,
): string {
  const type = readMediaType(config.headers);
  if (typeof config.body !== 'string') return encodeBody(buildWebhookPayload(config, source), type);
  // If the whole text is one variable whose value is an object or a list, the value replaces the text.
  const { value } = interpolateJson(config.body, source.variables);
  if (typeof value === 'object' && value !== null) return encodeBody(value, type);
  const encode = findEncoder(type);
  return interpolate(config.body, source.variables, { untrusted: 'keep', ...(encode && { encode }) });
}

/** Returns the function that escapes a variable in text of this type. Undefined for plain text and unknown types. */
function findEncoder(type: string): InterpolateOptions['encode'] {
  if (JSON_TYPE.test(type)) return escapeJson;
  if (type === FORM_TYPE) return encodeForUrl;
  return XML_TYPE.test(type) ? (text) => escapeHtml(text) : undefined;
}

/** Returns the content type without its parameters, in lower case. The default is JSON. */
function readMediaType(headers: Record<string, string> = {}): string {
  const [, contentType] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  return contentType?.split(';')[0]?.trim().toLowerCase() || 'application/json';
}

function encodeBody(payload: unknown, type: string): string {
  if (type !== FORM_TYPE || typeof payload !== 'object' || payload === null) return JSON.stringify(payload);
  const fields = Object.entries(payload as Data).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item): [string, string] => [name, toFieldText(item)]),
  );
  return new URLSearchParams(fields).toString();
}

function toFieldText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Escapes a value in JSON text. Inside a string, the result is text; elsewhere, it is a JSON value. */
function escapeJson(text: string, before: string, source: string, value: unknown): string {
  if (isInString(before)) return JSON.stringify(text).slice(1, -1);
  if (text === '') return 'null';
  // A text with digits only, such as a postal code, must stay a text. The result of a filter such as `json` is already
  // JSON.
  const isText = typeof value === 'string' && !source.includes('|') && !/^\s*[[{]/.test(text);
  return !isText && isJson(text) ? text : JSON.stringify(text);
}

/** Tells whether JSON text ends inside a string. The text then has an odd number of unescaped quotes. */
function isInString(json: string): boolean {
  return (json.match(/\\.|"/gs) ?? []).filter((token) => token === '"').length % 2 === 1;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
