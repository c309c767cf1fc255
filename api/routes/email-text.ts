import { z } from '@hono/zod-openapi';
import { type EmailTemplates, type EmailText, NO_TEXT } from '../../rules/content/email-text.ts';
import { refuseExpressions } from '../../rules/content/expressions.ts';
import type { Mailbox } from '../../rules/emails/email-address.ts';
import { EmailAddress, HEADER_LINE_MAX_CHARS, MailboxInput, oneLineText } from '../http/schemas.ts';

/**
 * Maximum size of a template's body, because it is rendered for each recipient of a campaign. Email clients show only
 * about the first 100 KB of an email.
 */
const TEMPLATE_BODY_MAX_BYTES = 512 * 1024;

/**
 * Email apps show about 100 characters. The limit is higher, because names of variables may be longer than their
 * values.
 */
const PREHEADER_MAX_CHARS = 500;

/** The body of a template or a campaign. */
const TemplateBody = z
  .string()
  .min(1)
  .refine((body) => Buffer.byteLength(body) <= TEMPLATE_BODY_MAX_BYTES, {
    error: `A body is at most ${TEMPLATE_BODY_MAX_BYTES / 1024} KB.`,
    params: { code: 'too_big' },
  })
  .openapi({
    description: 'HTML with Liquid, at most 512 KB',
    minLength: 1,
    maxLength: TEMPLATE_BODY_MAX_BYTES,
  });

const Preheader = oneLineText(PREHEADER_MAX_CHARS).nullish().openapi('Preheader', {
  description:
    'Preview text that email apps show beside the subject. Text with Liquid. The HTML part contains it as hidden text at the start.',
});

/** The fields of an email in a request that are Liquid templates. */
export const emailTemplatesInput = {
  subject: oneLineText(HEADER_LINE_MAX_CHARS).min(1),
  body: TemplateBody,
  preheader: Preheader,
} satisfies Record<keyof EmailTemplates, z.ZodType>;

/** All text fields of an email in a request. */
export const emailTextInput = {
  ...emailTemplatesInput,
  from: MailboxInput.superRefine(({ name }, ctx) => refuseExpressions(name ?? '', ctx)).openapi({
    description:
      'Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`.',
  }),
  fromName: oneLineText(200).superRefine(refuseExpressions).nullish(),
  replyTo: EmailAddress.nullish(),
} satisfies Record<keyof EmailText, z.ZodType>;

/** A parsed request whose `from` is only the address of the sender. */
type WithAddress<G> = { [Field in keyof G]: G[Field] extends infer T ? (T extends Mailbox ? string : T) : never };

/**
 * Splits the sender of a request: the address stays in `from`, and the display name moves to `fromName`, unless the
 * request has one.
 */
export function splitSender<G extends { from?: Mailbox | null | undefined; fromName?: string | null | undefined }>(
  input: G,
): WithAddress<G> {
  const { from, fromName } = input;
  const sender = from ? { from: from.email, ...(from.name && fromName === undefined && { fromName: from.name }) } : {};
  return { ...input, ...sender } as WithAddress<G>;
}

/** The text fields of an email in a response. */
export const emailTextResponse = {
  subject: z.string(),
  body: z.string(),
  preheader: z.string().nullable(),
  from: z.string(),
  fromName: z.string().nullable(),
  replyTo: z.string().nullable(),
} satisfies Record<keyof EmailText, z.ZodType>;

/** The text fields of an email in examples. */
export const EMAIL_TEXT_EXAMPLE: EmailText = {
  ...NO_TEXT,
  subject: 'Welcome, {{firstName ?? there}}',
  body: '<p>Hello {{firstName}}</p>',
  from: 'hello@example.com',
  fromName: 'Example',
};

/** The text fields of an email that a request changes. */
type EmailTextChanges = { [Field in keyof EmailText]?: EmailText[Field] | null | undefined };

/**
 * Returns the text fields of an email after a change. Omitted fields do not change, null clears optional fields. The
 * schema has checked which fields are optional or required.
 */
export function mergeEmailText<From>(changes: EmailTextChanges, current?: EmailText<From>): EmailText<From> {
  const fields = Object.keys(NO_TEXT) as (keyof EmailText)[];
  const entries = fields.map((field) => [
    field,
    changes[field] === undefined ? (current ?? NO_TEXT)[field] : changes[field],
  ]);
  return Object.fromEntries(entries) as EmailText<From>;
}
