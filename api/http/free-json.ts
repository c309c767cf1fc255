import { z } from '@hono/zod-openapi';

/**
 * What a request may bring of JSON of any shape: lists, executions, webhooks and variables carry it on, in processes
 * that all share.
 */
export const FREE_JSON_MAX_BYTES = 64 * 1024;

/** Whether a value is larger than free JSON may be. */
export function isTooLarge(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > FREE_JSON_MAX_BYTES;
}

/** The words of the refusal; `what` begins a sentence. */
export function tooLargeText(what: string): string {
  return `${what} is at most ${FREE_JSON_MAX_BYTES / 1024} KB of JSON.`;
}

/** An object of any names and values. */
export function freeJson(what: string) {
  return refuseTooLarge(z.record(z.string(), z.unknown()), what);
}

/** Any JSON at all. */
export function anyJson(what: string) {
  return refuseTooLarge(z.unknown(), what);
}

function refuseTooLarge<Schema extends z.ZodType>(schema: Schema, what: string): Schema {
  return schema.refine((value) => !isTooLarge(value), { error: tooLargeText(what), params: { code: 'too_big' } });
}
