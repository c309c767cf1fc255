import { z } from '@hono/zod-openapi';

/**
 * Maximum size of free-form JSON in a request. Lists, executions, webhooks and variables copy the JSON, in processes
 * that all tenants share.
 */
export const FREE_JSON_MAX_BYTES = 64 * 1024;

/** Tells whether a value exceeds the limit of free-form JSON. */
export function exceedsFreeJsonLimit(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > FREE_JSON_MAX_BYTES;
}

/** Returns the message of the error for JSON above the limit. `subject` is the start of the sentence, such as "The data". */
export function describeFreeJsonLimit(subject: string): string {
  return `${subject} is at most ${FREE_JSON_MAX_BYTES / 1024} KB of JSON.`;
}

/** Returns a schema for an object with any names and values, up to the limit of free-form JSON. */
export function anyJsonObject(subject: string) {
  return refuseTooLarge(z.record(z.string(), z.unknown()), subject);
}

/** Returns a schema for any JSON value, up to the limit of free-form JSON. */
export function anyJsonValue(subject: string) {
  return refuseTooLarge(z.unknown(), subject);
}

function refuseTooLarge<Schema extends z.ZodType>(schema: Schema, subject: string): Schema {
  return schema.refine((value) => !exceedsFreeJsonLimit(value), {
    error: describeFreeJsonLimit(subject),
    params: { code: 'too_big' },
  });
}
