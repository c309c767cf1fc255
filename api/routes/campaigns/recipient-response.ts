import { z } from '@hono/zod-openapi';
import type { CampaignRecipientRow } from '../../../db/campaigns/recipient-rows.ts';
import { formatCsvRow } from '../../../rules/contacts/csv-write.ts';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

const RECIPIENT_EXAMPLE = {
  contactId: EXAMPLE_ID,
  email: 'ada@example.com',
  status: 'FAILED' as const,
  reason: 'unsubscribed',
  error: null,
  attempts: 0,
  variant: null,
  emailId: EXAMPLE_ID,
  notBefore: null,
  sentAt: null,
  deliveredAt: null,
  openedAt: null,
  clickedAt: null,
  bouncedAt: null,
  unsubscribedAt: null,
};

export const RecipientRecord = z
  .object({
    contactId: Id.nullable(),
    email: z.string().nullable().openapi({ description: 'Null after the contact is erased' }),
    status: z.enum(EMAIL_STATUSES),
    reason: z.string().nullable().openapi({
      description: 'Why the email was not sent or not delivered. Skipped recipients are FAILED with a reason.',
    }),
    error: z.string().nullable().openapi({ description: 'Reply of the provider' }),
    attempts: z.number().int(),
    variant: z
      .string()
      .nullable()
      .openapi({ description: "Name of the recipient's variant, if the campaign has variants" }),
    emailId: Id.openapi({ description: 'Id for `GET /v1/emails/{id}`' }),
    notBefore: Instant.nullable().openapi({ description: 'Earliest time at which the email is sent' }),
    sentAt: Instant.nullable(),
    deliveredAt: Instant.nullable(),
    openedAt: Instant.nullable(),
    clickedAt: Instant.nullable(),
    bouncedAt: Instant.nullable(),
    unsubscribedAt: Instant.nullable(),
  })
  .openapi('CampaignRecipient', { example: RECIPIENT_EXAMPLE });

type RecipientResponse = z.output<typeof RecipientRecord>;
const COLUMNS = Object.keys(RECIPIENT_EXAMPLE) as (keyof RecipientResponse)[];

export function toRecipientResponse({ id, ...recipient }: CampaignRecipientRow): RecipientResponse {
  const { contactId, email, status, reason, error, attempts, variant } = recipient;
  return {
    contactId,
    email,
    status,
    reason,
    error,
    attempts,
    variant,
    emailId: id,
    notBefore: formatInstant(recipient.notBefore),
    sentAt: formatInstant(recipient.sentAt),
    deliveredAt: formatInstant(recipient.deliveredAt),
    openedAt: formatInstant(recipient.openedAt),
    clickedAt: formatInstant(recipient.clickedAt),
    bouncedAt: formatInstant(recipient.bouncedAt),
    unsubscribedAt: formatInstant(recipient.unsubscribedAt),
  };
}

/** The first line of the CSV: the names of the fields. */
export const RECIPIENT_CSV_HEADER = formatCsvRow(COLUMNS);

export function toRecipientCsv(recipient: CampaignRecipientRow): string {
  const response = toRecipientResponse(recipient);
  return formatCsvRow(COLUMNS.map((column) => response[column]));
}

function formatInstant(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
