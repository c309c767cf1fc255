import { interpolate, interpolateJson } from '../content/interpolate.ts';
import type { Data } from '../filters/data-values.ts';
import { type PayloadSource, webhookPayload } from './webhook-payload.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Writes the body of a WEBHOOK step's request, in the form that its Content-Type names. A text is sent as it is
 * written, and its variables are escaped for the type: a text that is JSON stays JSON. Any other value is encoded, as a
 * form where the type is one, else as JSON.
 */
export function webhookBody(
  config: { body?: unknown; headers?: Record<string, string> | undefined },
  source: PayloadSource,
): string {
  const type = mediaType(config.headers);
  if (typeof config.body !== 'string') return encodeBody(webhookPayload(config, source), type);
  // A text that is one variable stands for the variable's own value.
  const { value } = interpolateJson(config.body, source.variables);
  if (typeof value === 'object' && value !== null) return encodeBody(value, type);
  const encode = JSON_TYPE.test(type) ? escapeJson : type === FORM_TYPE ? encodeURIComponent : undefined;
  return interpolate(config.body, source.variables, { untrusted: 'keep', ...(encode && { encode }) });
}

/** The type without its parameters, in lower case; JSON unless the step names another. */
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

/** Writes a value into JSON: between the quotes of a string as its text, elsewhere as a value of its own. */
function escapeJson(text: string, before: string): string {
  if (isInString(before)) return JSON.stringify(text).slice(1, -1);
  if (text === '') return 'null';
  return isJson(text) ? text : JSON.stringify(text);
}

/** A text that ends in a string has an odd number of quotes that no backslash escapes. */
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
