import { z } from '@hono/zod-openapi';
import { PUBLIC_KEY_MODES, RESUBSCRIBE_MODES } from '../../../db/projects/projects.ts';
import { ZoneInput } from '../../../rules/time/sending-window.ts';
import { CountryInput, Id } from '../../http/schemas.ts';
import { SendingWindow } from '../sending-window.ts';

/** Maximum of a Postgres `integer`. */
const INT_MAX = 2_147_483_647;

export const PatchProject = z
  .object({
    name: z.string().trim().min(1).max(100).optional(),
    tracking: z.enum(['ENABLED', 'MARKETING_ONLY', 'DISABLED']).optional(),
    color: z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^#[0-9a-f]{6}$/, 'Must be a color in the form #rrggbb.')
      .nullish(),
    frequencyCap: z
      .object({ max: z.number().int().min(1).max(1_000), days: z.number().int().min(1).max(365) })
      .nullish()
      .openapi({
        description:
          'Maximum number of MARKETING emails from campaigns and automations to a contact within a rolling number of days. Failed emails do not count.',
      }),
    timezone: ZoneInput.optional().openapi({
      description: 'IANA time zone, such as `Europe/Berlin`, for contacts without a valid `data.timezone`',
    }),
    sendingWindow: SendingWindow.nullish(),
    doubleOptIn: z.object({ enabled: z.boolean(), templateId: Id.nullish() }).optional().openapi({
      description:
        'While `enabled`: if a request with the public key subscribes a contact, the contact becomes `pending` and gets an email of the template. The template must contain the link `{{confirmUrl}}`. The page behind that link subscribes the contact.',
    }),
    phoneCountry: CountryInput.nullish().openapi({
      description: 'Country of phone numbers without a calling code',
      example: 'DE',
    }),
    resubscribe: z.enum(RESUBSCRIBE_MODES).optional().openapi({
      description:
        'With `protect`, `subscribed: true` does not subscribe a contact that unsubscribed personally, unless the request has `resubscribe: true`.',
    }),
    publicKeyMode: z.enum(PUBLIC_KEY_MODES).optional().openapi({
      description:
        'With `protected`, `/v1/track` with the public key cannot overwrite values of the project. With `open`, the rules of a secret key apply, except that the public key can subscribe a contact again only if it was unsubscribed with the public key.',
    }),
    sendRatePerSecond: z.number().int().min(1).max(INT_MAX).nullish(),
    monthlyEmailLimit: z.number().int().min(0).max(INT_MAX).nullish(),
    bounceGuard: z.number().gt(0).max(1).optional(),
    complaintGuard: z.number().gt(0).max(1).optional(),
  })
  .openapi('PatchProject', {
    description:
      'Omitted fields do not change; null removes a limit. The guards are fractions: 0.1 means 10 %. A limit above `operatorLimits` returns 422. If the operator has set no limit, `bounceGuard` is at most 0.1 and `complaintGuard` at most 0.003.',
    example: { name: 'Web shop', tracking: 'MARKETING_ONLY', sendRatePerSecond: 50, monthlyEmailLimit: null },
  });

export const HoldProject = z
  .object({ reason: z.string().trim().min(1).max(500).default('held by an operator') })
  .openapi('HoldProject', { example: { reason: 'List was bought, waiting for the customer' } });
