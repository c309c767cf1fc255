import { Context } from '@temporalio/activity';
import { cancelEmails } from '../../db/sending/cancelled-deliveries.ts';
import { assertMessagesExist } from '../../db/sending/direct-messages.ts';
import type { DeferredMessage, LastAttempt } from '../../rules/emails/last-attempt.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeats } from '../heartbeats.ts';
import type { EmailAttemptResult, EmailAttempts } from './attempts.ts';
import { toDeliveryId } from './delivery-id.ts';

/**
 * The number of emails that one statement claims. The number is small, because the claim checks consent, which should
 * happen right before the emails are sent. The number is large enough that the statement costs little for each email.
 */
const CLAIM_MAX = 40;
/**
 * After this time, an activity starts no further group of emails. With a slow relay an email may take ten minutes, and
 * the activity must end before its `startToCloseTimeout`.
 */
const TAKE_MS = 5 * 60_000;
/**
 * A throttled email waits at least this long, so that the workflow runs at most one activity a second while the email
 * waits.
 */
const THROTTLED_MIN_MS = 1_000;

export interface SendEmailsInput {
  projectId: string;
  mails: { id: string }[];
  /** ISO 8601. Emails that are still deferred at this instant are marked as failed. */
  expiresAt: string;
}

export interface SendEmailsResult {
  sent: number;
  /**
   * The number of all other emails. These emails are FAILED, BOUNCED or HELD, had a result before this attempt, or were
   * claimed by another delivery.
   */
  other: number;
  waiting: DeferredMessage[];
}

export type DeliveryActivities = ReturnType<typeof createEmailDeliveryActivities>;

export const createEmailDeliveryActivities = (deps: Pick<ActivityDeps, 'db' | 'emailAttempts'>) => ({
  /**
   * Sends a group of a project's single emails that were not sent at the first attempt. Returns the emails that have to
   * wait, and until when. Safe to run again: a settled email is not sent again. An email without a recorded result is
   * sent again with the same Message-ID.
   */
  async sendMails(input: SendEmailsInput): Promise<SendEmailsResult> {
    const deliveryId = toDeliveryId(Context.current().info);
    const { projectId, mails } = input;
    await assertMessagesExist(deps.db, { kind: 'email', projectId, ids: mails.map(({ id }) => id) });
    return withHeartbeats((stop) => sendGroup(deps.emailAttempts, input, { deliveryId, stop }));
  },

  /** Marks as failed all emails that a cancelled delivery has not sent. Returns their number. Safe to run twice. */
  async giveUpMails({ projectId, ids }: { projectId: string; ids: string[] }): Promise<number> {
    return cancelEmails(deps.db, { projectId, ids, deliveryId: toDeliveryId(Context.current().info) });
  },
});

async function sendGroup(
  { attempt }: EmailAttempts,
  input: SendEmailsInput,
  { deliveryId, stop }: { deliveryId: string; stop: AbortSignal },
): Promise<SendEmailsResult> {
  const result: SendEmailsResult = { sent: 0, other: 0, waiting: [] };
  const untilMs = Date.now() + TAKE_MS;
  let remaining = input.mails.map(({ id }) => ({ id, deliveryId }));
  let dueAt = new Date();
  while (remaining.length > 0 && !stop.aborted && Date.now() < untilMs) {
    const batch = {
      projectId: input.projectId,
      emails: remaining.slice(0, CLAIM_MAX),
      expiresAt: new Date(input.expiresAt),
      stop,
    };
    const attempted = await attempt(batch);
    remaining = remaining.slice(CLAIM_MAX);
    for (const email of attempted) addToResult(result, email);
    const throttled = attempted.flatMap(({ outcome }) => (outcome.kind === 'throttled' ? outcome : []))[0];
    if (!throttled) continue;
    // The project's send rate, compute budget or paused route makes the project's other emails wait too.
    dueAt = delayThrottled(throttled.dueAt);
    break;
  }
  result.waiting.push(...remaining.map(({ id }) => ({ id, dueAt: dueAt.toISOString() })));
  return result;
}

/** Adds the outcome of one email to the result for the workflow. */
function addToResult(result: SendEmailsResult, { id, outcome }: EmailAttemptResult): void {
  if (outcome.kind === 'accepted') result.sent += 1;
  const wait = findNextAttempt(outcome);
  if (wait) result.waiting.push({ id, dueAt: wait.dueAt.toISOString(), ...(wait.last && { last: wait.last }) });
  else if (outcome.kind !== 'accepted') result.other += 1;
}

/** Returns when the email is attempted next. Undefined if it is not attempted again. */
function findNextAttempt(outcome: EmailAttemptResult['outcome']): { dueAt: Date; last?: LastAttempt } | undefined {
  switch (outcome.kind) {
    case 'deferred':
      return { dueAt: outcome.dueAt, last: outcome.last };
    case 'throttled':
      return { dueAt: delayThrottled(outcome.dueAt) };
    case 'outside_window':
    case 'unrecorded':
      return { dueAt: outcome.dueAt };
    case 'stopped':
      return { dueAt: new Date() };
    default:
      return undefined;
  }
}

function delayThrottled(dueAt: Date): Date {
  return new Date(Math.max(dueAt.getTime(), Date.now() + THROTTLED_MIN_MS));
}
