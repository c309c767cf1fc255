import { z } from '@hono/zod-openapi';
import { type CampaignTiming, LATE_POLICIES, NO_TIMING } from '../../../rules/campaigns/timing.ts';
import { AppError, createFieldError } from '../../../rules/errors.ts';
import { findFirstInstant, findLastInstant, readLocalTime } from '../../../rules/time/local-time.ts';
import { Instant } from '../../http/schemas.ts';
import { SendingWindow } from '../sending-window.ts';

const LOCAL_TIME = '2026-12-01T09:00';

const LocalTime = z
  .string()
  .refine((text) => readLocalTime(text) !== undefined, {
    error: 'Must have the form YYYY-MM-DDTHH:MM, without a time zone.',
    params: { code: 'invalid_string' },
  })
  .nullish()
  .openapi('SendAtLocal', {
    description:
      "Local time at which each recipient gets the email, in the time zone of the contact's `data.timezone` or else of the project. If a sending window is closed at this time, the email waits until the window opens. Cannot be combined with `scheduledFor`.",
    example: LOCAL_TIME,
  });

const LatePolicy = z.enum(LATE_POLICIES).openapi('LatePolicy', {
  description:
    'Decides about recipients whose local time was more than 15 minutes ago when the campaign starts or is resumed. With `SEND`, the default, they get the email at once. With `SKIP`, they are skipped with the reason `too_late`.',
});

/** The fields that send a campaign at a local time, in a request. */
export const localTimeInput = { sendAtLocal: LocalTime, latePolicy: LatePolicy.optional() };

export const timingInput = {
  ...localTimeInput,
  sendingWindow: z
    .union([
      SendingWindow,
      z.string().regex(/^project$/, 'Must be a window, null for no window, or project for the window of the project.'),
    ])
    .nullish()
    .openapi({
      description:
        "Sending window of this campaign. With null, no window applies. With `project`, the default, the project's window at the time of sending applies.",
      example: { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5], timezone: 'contact' },
    }),
};

export const timingResponse = {
  sendAtLocal: z.string().nullable().openapi({ example: LOCAL_TIME }),
  latePolicy: LatePolicy,
  sendingWindow: SendingWindow.nullable().optional().openapi({
    description:
      "Sending window of this campaign, or null if no window applies. Absent if the project's window applies.",
  }),
  nextOpening: Instant.nullable().openapi({
    description: 'When the next recipients get the email, if recipients wait for a local time or a sending window',
  }),
};

interface TimingChanges {
  sendingWindow?: z.output<(typeof timingInput)['sendingWindow']>;
  sendAtLocal?: string | null | undefined;
  latePolicy?: CampaignTiming['latePolicy'] | undefined;
}

/** Returns a campaign's timing after a change. Omitted fields do not change. */
export function mergeTiming(changes: TimingChanges, current: CampaignTiming = NO_TIMING): CampaignTiming {
  const { sendingWindow = current.sendingWindow, sendAtLocal = current.sendAtLocal } = changes;
  const { latePolicy = current.latePolicy } = changes;
  return { sendingWindow: typeof sendingWindow === 'string' ? undefined : sendingWindow, sendAtLocal, latePolicy };
}

/**
 * Returns when a campaign starts; null means now. With `sendAtLocal`, it starts when the first time zone reaches this
 * local time, or now if this instant is past. Without `sendAtLocal`, it starts at `scheduledFor`.
 * @throws AppError VALIDATION_ERROR if both are set; BAD_REQUEST if the local time is past in every zone, because all
 * recipients would then get the campaign at once
 */
export function computeStart(p: { scheduledFor: Date | null; sendAtLocal: string | null }): Date | null {
  const wall = p.sendAtLocal === null ? undefined : readLocalTime(p.sendAtLocal);
  if (wall === undefined) return p.scheduledFor;
  if (p.scheduledFor)
    throw createFieldError('scheduledFor', 'Cannot be combined with sendAtLocal. Send only one of them.', 'custom');
  if (findLastInstant(wall) <= Date.now())
    throw new AppError('BAD_REQUEST', {
      message: 'sendAtLocal is in the past in every time zone.',
      suggestion: 'Send a time in the future, or null to send now.',
      details: { sendAtLocal: p.sendAtLocal },
    });
  const at = findFirstInstant(wall);
  return at > Date.now() ? new Date(at) : null;
}

/**
 * Returns when a SCHEDULED campaign starts after a change. Null means now, undefined means unchanged.
 * @throws AppError VALIDATION_ERROR if both `scheduledFor` and `sendAtLocal` are given, or if `sendAtLocal` is removed
 * without a `scheduledFor`; BAD_REQUEST for a time in the past
 */
export function findNewStart(p: {
  scheduledFor: Date | null | undefined;
  before: CampaignTiming;
  after: CampaignTiming;
}): Date | null | undefined {
  const { before, after } = p;
  const scheduledFor = assertFuture(p.scheduledFor ?? null);
  const start = computeStart({ scheduledFor, sendAtLocal: after.sendAtLocal });
  if (scheduledFor || after.sendAtLocal !== before.sendAtLocal) {
    if (start || after.sendAtLocal !== null) return start;
    throw createFieldError(
      'scheduledFor',
      'Required when sendAtLocal is removed from a SCHEDULED campaign',
      'invalid_type',
    );
  }
  return undefined;
}

/** The error message for `scheduledFor` in a request that creates or changes a draft. */
export const SCHEDULED_BY_SENDING =
  'A draft has no schedule. To schedule it, call POST /campaigns/{id}/send with scheduledFor.';

/**
 * Checks the time of a `scheduledFor`, and returns it unchanged.
 * @throws AppError BAD_REQUEST for a time in the past
 */
export function assertFuture(at: Date | null): Date | null {
  if (at && at.getTime() <= Date.now()) {
    throw new AppError('BAD_REQUEST', {
      message: 'scheduledFor is in the past.',
      suggestion: 'Send a time in the future, or omit it to send now.',
      details: { scheduledFor: at.toISOString() },
    });
  }
  return at;
}
