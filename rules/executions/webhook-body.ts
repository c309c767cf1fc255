import { type InterpolateOptions, interpolate, interpolateJson } from '../content/interpolate.ts';
import { escapeHtml } from '../content/plain-value.ts';
import type { Data } from '../filters/data-values.ts';
import { type PayloadSource, webhookPayload } from './webhook-payload.ts';
import { encodeForUrl } from './webhook-url.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;
const XML_TYPE = /^(?:text|application)\/(?:[\w.+-]+\+)?(?:xml|html)$/;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Writes the body of a WEBHOOK step's request, in the form that its Content-Type names. A text is sent as written, with
 * variables escaped for the type, so that JSON text stays JSON, and XML stays XML. Any other value is encoded as a form if the type is
 * one, else as JSON.
 */
export function webhookBody(
  config: { body?: unknown; headers?: Record<string, string> | undefined },
  source: PayloadSource,
): string {
  const type = mediaType(config.headers);
  if (typeof config.body !== 'string') return encodeBody(webhookPayload(config, source), type);
  // A text that consists of one variable is replaced by the variable's value.
  const { value } = interpolateJson(config.body, source.variables);
  if (typeof value === 'object' && value !== null) return encodeBody(value, type);
  const encode = encoderOf(type);
  return interpolate(config.body, source.variables, { untrusted: 'keep', ...(encode && { encode }) });
}

/** Returns the function that escapes a variable in text of this type. Undefined for plain text and unknown types. */
function encoderOf(type: string): InterpolateOptions['encode'] {
  if (JSON_TYPE.test(type)) return escapeJson;
  if (type === FORM_TYPE) return encodeForUrl;
  return XML_TYPE.test(type) ? (text) => escapeHtml(text) : undefined;
}

/** Returns the type without its parameters, in lower case; JSON unless the step names another one. */
function mediaType(headers: Record<string, string> = {}): string {
  const [, written] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  return written?.split(';')[0]?.trim().toLowerCase() || 'application/json';
}

function encodeBody(payload: unknown, type: string): string {
  if (type !== FORM_TYPE || typeof payload !== 'object' || payload === null) return JSON.stringify(payload);
  const fields = Object.entries(payload as Data).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item): [string, string] => [name, fieldText(item)]),
  );
  return new URLSearchParams(fields).toString();
}

function fieldText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Writes a value into JSON text: as text inside a string, as a JSON value elsewhere. */
function escapeJson(text: string, before: string, source: string, value: unknown): string {
  if (isInString(before)) return JSON.stringify(text).slice(1, -1);
  if (text === '') return 'null';
  // The digits of a postal code stay text. The result of a filter such as `json` is written as it is.
  const isText = typeof value === 'string' && !source.includes('|') && !/^\s*[[{]/.test(text);
  return !isText && isJson(text) ? text : JSON.stringify(text);
}

/** Tells whether JSON text ends inside a string: it then has an odd number of unescaped quotes. */
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
