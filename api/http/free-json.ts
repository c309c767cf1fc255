import { z } from '@hono/zod-openapi';

/**
 * Limit of free-form JSON in a request. Lists, executions, webhooks and variables copy it, in processes that all
 * tenants share.
 */
export const FREE_JSON_MAX_BYTES = 64 * 1024;

/** Tells whether a value exceeds the limit of free-form JSON. */
export function isTooLarge(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > FREE_JSON_MAX_BYTES;
}

/** Returns the text of the error. `subject` is the subject of the sentence, such as "The data". */
export function describeTooLarge(subject: string): string {
  return `${subject} is at most ${FREE_JSON_MAX_BYTES / 1024} KB of JSON.`;
}

/** Returns a schema for an object with any names and values. */
export function anyJsonObject(subject: string) {
  return refuseTooLarge(z.record(z.string(), z.unknown()), subject);
}

/** Returns a schema for any JSON value. */
export function anyJsonValue(subject: string) {
  return refuseTooLarge(z.unknown(), subject);
}

function refuseTooLarge<Schema extends z.ZodType>(schema: Schema, subject: string): Schema {
  return schema.refine((value) => !isTooLarge(value), {
    error: describeTooLarge(subject),
    params: { code: 'too_big' },
  });
}
