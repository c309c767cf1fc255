import { z } from '@hono/zod-openapi';
import { AppError } from '../../rules/errors.ts';
import { type ReadVersion, versionTag } from '../../rules/record-version.ts';
import type { RequestContext } from './env.ts';
import { ok } from './responses.ts';
import { InstantInput } from './schemas.ts';

/** `request.headers` of a write to a record with a version, for the document; `readVersion` reads it. */
export const IfMatch = z.object({
  'If-Match': z.string().optional().openapi({
    description: 'ETag of the version that you read. Returns 409 if the record has changed since.',
    example: '"lmn4w1c0"',
  }),
});

/** `updatedAt` in the body of a change: the version that the caller read. */
export const ReadUpdatedAt = InstantInput.optional().openapi({
  description:
    'Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins.',
});

/** Declares a JSON response with the version of its record as `ETag`. */
export function okVersioned<S extends z.ZodType>(schema: S, description?: string) {
  const ETag = z.string().openapi({ description: 'Version of the record, for `If-Match`', example: '"lmn4w1c0"' });
  return { ...ok(schema, description), headers: z.object({ ETag }) };
}

/** Sets `ETag` to the version of the record in the response. */
export function setETag(c: RequestContext, { updatedAt }: { updatedAt: Date }): void {
  c.header('ETag', `"${versionTag(updatedAt)}"`);
}

/**
 * Returns the version that a write is based on: `If-Match`, `updatedAt` of the body, or both. Undefined without
 * either. Weak tags count too, because proxies that compress a response weaken its tag.
 * @throws AppError BAD_REQUEST for an `If-Match` without a tag
 */
export function readVersion(c: RequestContext, body: { updatedAt?: Date | undefined } = {}): ReadVersion | undefined {
  const header = c.req.header('if-match');
  if (header === undefined) return body.updatedAt && { updatedAt: body.updatedAt };
  const tags = header.split(',').flatMap(
    (tag) =>
      tag
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1') || [],
  );
  if (tags.length > 0) return { tags, updatedAt: body.updatedAt };
  throw new AppError('BAD_REQUEST', {
    message: 'If-Match contains no ETag.',
    suggestion: 'Send the ETag from the response to GET, such as If-Match: "lmn4w1c0".',
  });
}
