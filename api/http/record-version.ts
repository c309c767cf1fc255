import { z } from '@hono/zod-openapi';
import { AppError } from '../../rules/errors.ts';
import { type ReadVersion, toVersionTag } from '../../rules/record-version.ts';
import type { RequestContext } from './env.ts';
import { jsonResponse } from './responses.ts';
import { InstantInput } from './schemas.ts';

/** The schema `request.headers` of a write to a record with a version. `readVersion` reads the header. */
export const IfMatch = z.object({
  'If-Match': z.string().optional().openapi({
    description: 'ETag of the version that you read. Returns 409 if the record has changed since.',
    example: '"lmn4w1c0"',
  }),
});

/** The field `updatedAt` in the body of a change: the version that the caller has read. */
export const ReadUpdatedAt = InstantInput.optional().openapi({
  description:
    'Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins.',
});

/** Declares a JSON response with the version of its record as `ETag`. */
export function versionedResponse<S extends z.ZodType>(schema: S, description?: string) {
  const ETag = z.string().openapi({ description: 'Version of the record, for `If-Match`', example: '"lmn4w1c0"' });
  return { ...jsonResponse(schema, description), headers: z.object({ ETag }) };
}

/** Sets `ETag` to the version of the record in the response. */
export function setETag(c: RequestContext, { updatedAt }: { updatedAt: Date }): void {
  c.header('ETag', `"${toVersionTag(updatedAt)}"`);
}

/**
 * One element of `If-Match`: an entity tag of RFC 9110 §8.8.3, or a tag without its quotes. An element of the list may
 * also be empty.
 */
const ENTITY_TAG = /^\s*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\u{10ffff}]*)"|([^\s,"*/]+))?\s*(?:,|$)/u;

/**
 * Returns the version of the record that the caller has read: `If-Match`, `updatedAt` of the body, or both. Undefined
 * if the request has neither, so that it changes any version. `If-Match: *` counts as no `If-Match`. Weak tags
 * (`W/"…"`) are accepted too, because proxies that compress a response change its tag to a weak tag.
 * @throws AppError BAD_REQUEST for an `If-Match` that is neither `*` nor a list of entity tags
 */
export function readVersion(c: RequestContext, body: { updatedAt?: Date | undefined } = {}): ReadVersion | undefined {
  const header = c.req.header('if-match');
  if (header === undefined || header.trim() === '*') return body.updatedAt && { updatedAt: body.updatedAt };
  return { tags: readEntityTags(header), updatedAt: body.updatedAt };
}

function readEntityTags(header: string): string[] {
  const tags: string[] = [];
  let rest = header;
  while (rest !== '') {
    const [element, quoted, bare] = ENTITY_TAG.exec(rest) ?? [];
    if (element === undefined) break;
    const tag = quoted ?? bare;
    if (tag !== undefined) tags.push(tag);
    rest = rest.slice(element.length);
  }
  if (rest === '' && tags.length > 0) return tags;
  throw new AppError('BAD_REQUEST', {
    message: rest === '' ? 'If-Match contains no ETag.' : 'If-Match is neither * nor a list of ETags.',
    suggestion: 'Send the ETag from the response to GET, such as If-Match: "lmn4w1c0".',
  });
}
