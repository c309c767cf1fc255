import { z } from '@hono/zod-openapi';
import { MAILBOX_MAX_CHARS, NAME_MAX_CHARS } from '../../rules/emails/email-address.ts';
import { emailText, mailboxText } from '../../rules/emails/email-schema.ts';
import { SLUG_LENGTH, SLUG_PATTERN } from '../../rules/slug.ts';
import { readInstant } from './instant-zone.ts';

/** The id of every example, in the document and in its page. */
export const EXAMPLE_ID = '0190a000-0000-7000-8000-000000000000';

/** The longest line of a header (RFC 5322 §2.1.1), and so of a subject. */
export const HEADER_LINE_MAX_CHARS = 998;

/** A subject or a name for a header: a line break would start another header. */
export function oneLine(maxChars: number) {
  return z
    .string()
    .max(maxChars)
    .regex(/^[^\r\n]*$/, 'Must not contain line breaks');
}

/** The id of any record: a UUIDv7. */
export const Id = z.uuid().openapi({ example: EXAMPLE_ID });

/** A record that uses another one, as usages list it. */
export const NamedUse = z.object({ id: Id, name: z.string() }).openapi('NamedUse');

/** A slug as input. Derived from the name if omitted. */
export const SlugInput = z
  .string()
  .max(SLUG_LENGTH)
  .regex(SLUG_PATTERN, 'Lower-case letters and digits, joined by single hyphens')
  .openapi('SlugInput', {
    description: 'Names it in files, over projects; unique in the project',
    example: 'welcome',
  });

/** A slug in an answer. */
export const Slug = z
  .string()
  .openapi({ description: 'Names it in files, over projects; stays when the name changes' });

/** `{id}` in a path. An invalid UUID is 404, like an unknown one. */
export const IdParams = z.object({ id: Id });

/** An instant in an answer: ISO 8601, UTC, milliseconds. Made by `Date.toISOString()`. */
export const Instant = z.iso.datetime().openapi({ example: '2026-01-01T12:00:00.000Z' });

/**
 * An address as input, also as `Ada <ada@example.com>`, whose name is not kept. Read to the form that is stored and
 * compared (contract §3.1).
 */
export const EmailAddress = emailText().openapi({
  format: 'email',
  maxLength: MAILBOX_MAX_CHARS,
  example: 'ada@example.com',
});

/** An address in a response. */
export const EmailAddressResponse = z.string().openapi({ format: 'email', example: 'ada@example.com' });

/** The name beside an address. */
export const DisplayName = oneLine(NAME_MAX_CHARS);

/** A mailbox as input: an address, `Ada <ada@example.com>`, or `{ name, email }`. */
export const MailboxInput = z.union([
  mailboxText().openapi({ maxLength: MAILBOX_MAX_CHARS, example: 'Ada <ada@example.com>' }),
  z
    .object({ name: DisplayName.optional(), email: EmailAddress })
    .transform(({ name, email }) => ({ email, name: name?.trim() || null })),
]);

/** A date-time or a date as input, read to a `Date` as `readInstant` says. */
export const InstantInput = z
  .string()
  .transform((text, ctx) => {
    const at = readInstant(text);
    if (at) return at;
    ctx.addIssue({
      code: 'custom',
      message: 'Must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z, or a date',
      params: { code: 'invalid_string' },
    });
    return z.NEVER;
  })
  .openapi({ type: 'string', format: 'date-time', example: '2026-01-01T12:00:00Z' });

/** An instant as input that null takes away. */
export const NullableInstantInput = InstantInput.nullish().openapi({ type: ['string', 'null'] });

/** A whole number in a query. */
export function wholeNumber(p: { min: number; max: number; default: number; description?: string }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'Must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(p.min).max(p.max))
    .default(p.default)
    .openapi({ type: 'integer', minimum: p.min, maximum: p.max, default: p.default, description: p.description });
}

/** A switch in a query: `true` or `false`. */
export const QuerySwitch = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .openapi({ type: 'boolean' });

/** Returns a transform that parses a string as JSON; `message` is the error for invalid JSON. */
export function jsonOfText(message: string) {
  return (text: string, ctx: z.RefinementCtx): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      ctx.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  };
}

/** The position that the page before gave. */
export const Cursor = z.string().min(1).max(1000).openapi({
  description: 'Cursor from the previous page. Omit it for the first page.',
  example: 'WyIwMTkwYTAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDAiXQ',
});

/** The query of a cursor list. */
export function cursorQuery(defaultLimit: number) {
  return z.object({
    limit: wholeNumber({ min: 1, max: 100, default: defaultLimit, description: 'Records a page' }),
    cursor: Cursor.optional(),
  });
}

/**
 * The query of a list that takes page numbers, and `limit` and `cursor` too (contract §1.6). `limit` is the page's size
 * where given.
 */
export function pageQuery(defaultSize: number) {
  return z.object({
    page: wholeNumber({ min: 1, max: 1_000_000, default: 1, description: 'Page number, from 1' }),
    pageSize: wholeNumber({ min: 1, max: 100, default: defaultSize, description: 'Records a page' }),
    // Without a default, which would stand in for an absent limit and hide pageSize.
    limit: wholeNumber({ min: 1, max: 100, default: defaultSize })
      .removeDefault()
      .optional()
      .openapi({ type: 'integer', minimum: 1, maximum: 100, description: 'The same as pageSize' }),
    cursor: Cursor.optional(),
  });
}

/** A part of a name that a list is searched for. */
export const NameSearch = z
  .string()
  .trim()
  .max(200)
  .refine((text) => !text.includes('\0'), 'Must hold no NUL character')
  .optional()
  .openapi({ description: 'A part of the name, whatever its case' });

/** The answer of a cursor list; `total` is counted on the first page only and 0 on later ones (contract §1.6). */
export function cursorList<S extends z.ZodType>(item: S) {
  return z.object({
    data: z.array(item),
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
    total: z.number().int(),
  });
}

/** The fields of a numbered list besides its records. */
export const numberedListFields = {
  page: z.number().int(),
  pageSize: z.number().int(),
  total: z.number().int(),
  totalPages: z.number().int(),
  cursor: z.string().nullable(),
  hasMore: z.boolean(),
};

/** On a record of a list whose large fields did not fit into the page. */
export const Truncated = z.literal(true).optional().openapi({
  description: 'Its large fields are omitted, because a page is at most 4 MB. Read the record itself to get them.',
});

/** On an answer whose lists have no cursor and did not fit. */
export const TruncatedLists = z
  .literal(true)
  .optional()
  .openapi({ description: 'A list is cut: an answer is 4 MB at most.' });

/** The success envelope of the public endpoints. */
export function success<S extends z.ZodType>(data: S) {
  return z.object({ success: z.literal(true), data });
}
