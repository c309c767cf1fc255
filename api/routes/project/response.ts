import { z } from '@hono/zod-openapi';
import { CHECKLIST } from '../../../db/projects/checklist.ts';
import { type Project as ProjectState, PUBLIC_KEY_MODES, RESUBSCRIBE_MODES } from '../../../db/projects/projects.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { SendingWindow } from '../sending-window.ts';

export const Hold = z
  .object({ held: z.boolean(), since: Instant.nullable(), reason: z.string().nullable() })
  .openapi('Hold', { description: 'Whether marketing and automation email is on hold, since when, and why.' });

export const Project = z
  .object({
    id: Id,
    name: z.string(),
    public: z.string().openapi({ description: 'The public key' }),
    tracking: z.enum(['ENABLED', 'MARKETING_ONLY', 'DISABLED']),
    color: z.string().nullable().openapi({ description: 'Color of the hosted pages, as `#rrggbb`' }),
    doubleOptIn: z.object({ enabled: z.boolean(), templateId: Id.nullable() }),
    frequencyCap: z.object({ max: z.number().int(), days: z.number().int() }).nullable(),
    timezone: z.string().openapi({ description: 'IANA time zone for contacts without a valid `data.timezone`' }),
    sendingWindow: SendingWindow.nullable(),
    phoneCountry: z.string().nullable().openapi({ description: 'Country of phone numbers without a calling code' }),
    resubscribe: z.enum(RESUBSCRIBE_MODES),
    publicKeyMode: z.enum(PUBLIC_KEY_MODES),
    sendRatePerSecond: z.number().int().nullable(),
    monthlyEmailLimit: z.number().int().nullable(),
    bounceGuard: z.number(),
    complaintGuard: z.number(),
    hold: Hold,
    operatorLimits: z
      .object({
        sendRatePerSecond: z.number().int().nullable(),
        monthlyEmailLimit: z.number().int().nullable(),
        bounceGuard: z.number().nullable(),
        complaintGuard: z.number().nullable(),
        held: z.boolean(),
      })
      .openapi({
        description:
          "Limits that the operator of the service has set. The project cannot exceed them. Null if the operator has set no limit. `sendRatePerSecond`, `monthlyEmailLimit`, `bounceGuard` and `complaintGuard` of the project show the limits that apply: the lower of the operator's and the project's.",
      }),
    disabled: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Project', {
    example: {
      id: EXAMPLE_ID,
      name: 'Web shop',
      public: `pk_${'0'.repeat(64)}`,
      tracking: 'ENABLED',
      color: '#0f766e',
      doubleOptIn: { enabled: false, templateId: null },
      frequencyCap: { max: 3, days: 7 },
      timezone: 'Europe/Berlin',
      sendingWindow: { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5, 6, 7], timezone: 'contact' },
      phoneCountry: 'DE',
      resubscribe: 'allow',
      publicKeyMode: 'protected',
      sendRatePerSecond: null,
      monthlyEmailLimit: null,
      bounceGuard: 0.1,
      complaintGuard: 0.003,
      hold: { held: false, since: null, reason: null },
      operatorLimits: {
        sendRatePerSecond: null,
        monthlyEmailLimit: 50000,
        bounceGuard: null,
        complaintGuard: null,
        held: false,
      },
      disabled: false,
      createdAt: '2026-01-01T12:00:00.000Z',
      updatedAt: '2026-01-01T12:00:00.000Z',
    },
  });

export function toProjectResponse({ publicKey, ...project }: ProjectState): z.infer<typeof Project> {
  return {
    ...project,
    public: publicKey,
    hold: { ...project.hold, since: project.hold.since?.toISOString() ?? null },
    createdAt: project.createdAt.toISOString(),
    updatedAt: project.updatedAt.toISOString(),
  };
}

export const Checklist = z
  .object({
    items: z.array(z.object({ key: z.enum(CHECKLIST), done: z.boolean() })),
    done: z.boolean().openapi({ description: 'Whether all items are done' }),
  })
  .openapi('Checklist', { example: { items: [{ key: 'domain', done: true }], done: false } });
