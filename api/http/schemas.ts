import { z } from '@hono/zod-openapi';
import { MAILBOX_MAX_CHARS, NAME_MAX_CHARS } from '../../rules/emails/email-address.ts';
import { createEmailSchema, createMailboxSchema } from '../../rules/emails/email-schema.ts';
import { findUnstorableValue, REPEATED_NAME } from '../../rules/json-body.ts';
import { findRepeatedName } from '../../rules/json-nodes.ts';
import { SLUG_LENGTH, SLUG_PATTERN } from '../../rules/slug.ts';
import { isPhoneCountry, readWrittenNumber } from '../../rules/sms/phone.ts';
import { readInstant } from './instant-zone.ts';
import { toUnknownFieldErrors } from './parse-body.ts';
import { collectFieldNames } from './unknown-fields.ts';

/** The id in all examples of the OpenAPI document. */
export const EXAMPLE_ID = '0190a000-0000-7000-8000-000000000000';

/** Maximum length of a header line of an email (RFC 5322 §2.1.1). The service uses it as the limit of a subject. */
export const HEADER_LINE_MAX_CHARS = 998;

/** Returns a schema for a subject or a name in a header. A line break would start another header. */
export function oneLineText(maxChars: number) {
  return z
    .string()
    .max(maxChars)
    .regex(/^[^\r\n]*$/, 'Must not contain line breaks');
}

/** The id of a record: a UUIDv7. */
export const Id = z.uuid().openapi({ example: EXAMPLE_ID });

/** One record in the list of the records that use a resource, such as the campaigns that use a template. */
export const NamedUse = z.object({ id: Id, name: z.string() }).openapi('NamedUse');

/** A slug in a request. Derived from the name if omitted. */
export const SlugInput = z
  .string()
  .max(SLUG_LENGTH)
  .regex(SLUG_PATTERN, 'Must be lower-case letters and digits, joined by single hyphens')
  .openapi('SlugInput', {
    description: 'Identifies the record in files and across projects. Unique in the project.',
    example: 'welcome',
  });

/** A slug in a response. */
export const Slug = z
  .string()
  .openapi({ description: 'Identifies the record in files and across projects. Does not change with the name.' });

/** `{id}` in a path. An invalid UUID is 404, like an unknown UUID. */
export const IdParams = z.object({ id: Id });

/** A point in time in a response: ISO 8601, UTC, milliseconds, as `Date.toISOString()` returns it. */
export const Instant = z.iso.datetime().openapi({ example: '2026-01-01T12:00:00.000Z' });

/**
 * An email address in a request. Also accepts `Ada <ada@example.com>` and drops the name. Parsed to the form that is
 * stored and compared (contract §3.1 Addresses).
 */
export const EmailAddress = createEmailSchema().openapi({
  format: 'email',
  maxLength: MAILBOX_MAX_CHARS,
  example: 'ada@example.com',
});

/** An address in a response. */
export const EmailAddressResponse = z.string().openapi({ format: 'email', example: 'ada@example.com' });

/**
 * A phone number in a request, in any usual spelling with its country code. Parsed to E.164. If a URL contains an
 * unencoded plus, the plus arrives as a space.
 */
export const PhoneNumberInput = z
  .string()
  .transform((text, ctx) => {
    const number = readWrittenNumber(text.replace(/^ /, '+'), null);
    if (number) return number.e164;
    const message = 'Must be a phone number with its country code, such as +4915112345678.';
    ctx.addIssue({ code: 'custom', message, params: { code: 'invalid_string' } });
    return z.NEVER;
  })
  .openapi({ description: 'E.164', example: '+4915112345678' });

/** A country in a request, parsed to upper case. */
export const CountryInput = z
  .string()
  .trim()
  .toUpperCase()
  .refine(isPhoneCountry, 'Must be a two-letter country code (ISO 3166-1), such as DE.');

/** The display name of an address in an email header. */
export const DisplayName = oneLineText(NAME_MAX_CHARS);

/** A mailbox in a request: an address, `Ada <ada@example.com>`, or `{ name, email }`. */
export const MailboxInput = z.union([
  createMailboxSchema().openapi({ maxLength: MAILBOX_MAX_CHARS, example: 'Ada <ada@example.com>' }),
  z
    .object({ name: DisplayName.optional(), email: EmailAddress })
    .transform(({ name, email }) => ({ email, name: name?.trim() || null })),
]);

const INSTANT = { type: 'string', format: 'date-time', example: '2026-01-01T12:00:00Z' } as const;

function parseInstant(text: string, ctx: z.RefinementCtx): Date {
  const at = readInstant(text);
  if (at) return at;
  const lostSign = / \d\d:?\d\d$/.test(text) ? '. In a URL, write the + of an offset as %2B' : '';
  ctx.addIssue({
    code: 'custom',
    message: `Must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z, or a date${lostSign}`,
    params: { code: 'invalid_string' },
  });
  return z.NEVER;
}

/** A date-time or a date in a request, parsed to a `Date` by `readInstant`. */
export const InstantInput = z.string().transform(parseInstant).openapi(INSTANT);

/** A date-time or a date in a request, where a date means the whole day. `isDay` is true for a date without a time. */
export const DayOrInstantInput = z
  .string()
  .transform((text, ctx) => ({ at: parseInstant(text, ctx), isDay: /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(text) }))
  .openapi(INSTANT);

export type DayOrInstant = z.output<typeof DayOrInstantInput>;

/** A point in time in a request. Null removes it from the record. */
export const NullableInstantInput = InstantInput.nullish().openapi({ type: ['string', 'null'] });

/** Returns a schema for a whole number in a query. */
export function wholeNumber(p: { min: number; max: number; default: number; description?: string }) {
  return z
    .string()
    .regex(/^-?\d+$/, 'Must be a whole number')
    .transform(Number)
    .pipe(z.number().min(p.min).max(p.max))
    .default(p.default)
    .openapi({ type: 'integer', minimum: p.min, maximum: p.max, default: p.default, description: p.description });
}

/** A boolean in a query: `true` or `false`. */
export const QuerySwitch = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .openapi({ type: 'boolean' });

/** A file in a form. */
export const UploadedFile = z.custom<File>((value) => value instanceof File, {
  error: ({ input }) => (input === undefined ? 'Required' : 'Must be a file: the part of the form needs a filename'),
  params: { code: 'invalid_type' },
});

const JSON_TEXT_MAX_CHARS = 64 * 1024;

/**
 * Returns a schema for a value that a query or a form contains as JSON text. Unknown fields in the JSON are errors.
 * @param message the error for invalid JSON
 */
export function jsonText<Schema extends z.ZodType>(schema: Schema, message: string, maxChars = JSON_TEXT_MAX_CHARS) {
  const names = collectFieldNames(schema);
  return z
    .string()
    .max(maxChars)
    .transform((text, ctx): unknown => {
      const value = parseJsonOrUndefined(text);
      if (value === undefined) {
        ctx.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
      const path = findRepeatedName(Buffer.from(text));
      if (path) ctx.addIssue({ code: 'custom', path, message: REPEATED_NAME, params: { code: 'duplicate_field' } });
      const unstorable = findUnstorableValue(value);
      if (unstorable) ctx.addIssue({ code: 'custom', message: unstorable.message });
      for (const { field, ...fault } of toUnknownFieldErrors(names.unknownIn(value), 'field'))
        ctx.addIssue({ code: 'custom', path: field.split('.'), message: fault.message, params: { code: fault.code } });
      return value;
    })
    .pipe(schema);
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The cursor that the previous page returned. */
export const Cursor = z.string().min(1).max(1000).openapi({
  description: 'Cursor from the previous page, with the same filters and the same order. Omit it for the first page.',
});

/** Returns the schema for the query of a list with a cursor. */
export function cursorQuery(defaultLimit: number) {
  return z.object({
    limit: wholeNumber({ min: 1, max: 100, default: defaultLimit, description: 'Records per page' }),
    cursor: Cursor.optional(),
  });
}

/** A page size without a default, because `resolveQueryAliases` must see which of the two names the caller sent. */
const pageSizeInput = wholeNumber({ min: 1, max: 100, default: 1 })
  .removeDefault()
  .optional()
  .openapi({ type: 'integer', minimum: 1, maximum: 100 });

/**
 * Returns the schema for the query of a list with page numbers. It also accepts `limit` and `cursor` (contract §1.6
 * Lists).
 */
export function pageQuery(defaultSize: number) {
  return z.object({
    page: wholeNumber({ min: 1, max: 1_000_000, default: 1, description: 'Page number, from 1' }),
    pageSize: pageSizeInput.openapi({ default: defaultSize, description: 'Records per page' }),
    limit: pageSizeInput.openapi({ description: 'Alias of `pageSize`' }),
    cursor: Cursor.optional(),
  });
}

/** Part of a name to search a list for. */
export const NameSearch = z
  .string()
  .trim()
  .max(200)
  .refine((text) => !text.includes('\0'), 'Must not contain NUL characters')
  .optional()
  .openapi({ description: 'Part of the name, case-insensitive' });

/**
 * Returns the schema for a page of a list with a cursor. `total` is counted on the first page, and 0 on later pages
 * (contract §1.6 Lists).
 */
export function cursorList<S extends z.ZodType>(item: S) {
  return z.object({
    data: z.array(item),
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
    total: z.number().int(),
  });
}

/** The fields of a response to `pageQuery`, except the records. */
export const numberedListFields = {
  page: z.number().int(),
  pageSize: z.number().int(),
  total: z.number().int(),
  totalPages: z.number().int(),
  cursor: z.string().nullable(),
  hasMore: z.boolean(),
};

/** How delivered emails are counted. */
export const DeliveredBasis = z.enum(['reported', 'sent_minus_bounced']).openapi({
  description:
    '`reported`: the provider reports each delivery. `sent_minus_bounced`: the provider does not, so the count is the sent emails minus the bounced emails.',
});

/** True on a record of a list, if its large fields were omitted to fit into the page. */
export const Truncated = z.literal(true).optional().openapi({
  description: 'Large fields are omitted, because a page is at most 4 MB. Get the record itself to read them.',
});

/** True on a response with a list without a cursor, if the list was cut to fit into the response. */
export const TruncatedLists = z
  .literal(true)
  .optional()
  .openapi({ description: 'A list is incomplete, because a response is at most 4 MB.' });

/** Returns the schema of the success envelope of the public endpoints. */
export function successEnvelope<S extends z.ZodType>(data: S) {
  return z.object({ success: z.literal(true), data });
}
