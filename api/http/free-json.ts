import { z } from '@hono/zod-openapi';

/**
 * Limit of free-form JSON in a request. Lists, executions, webhooks and variables copy it, in processes that all
 * tenants share.
 */
export const FREE_JSON_MAX_BYTES = 64 * 1024;

/** Whether a value is larger than free JSON may be. */
export function isTooLarge(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > FREE_JSON_MAX_BYTES;
}

/** Returns the text of the error; `what` is the first part of the sentence. */
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
