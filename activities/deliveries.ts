import { Context } from '@temporalio/activity';
import { cancelMails } from '../db/cancelled-deliveries.ts';
import type { Db } from '../db/connection.ts';
import { claimEmails } from '../db/email-ledger.ts';
import { getSendRate, takeSendTokens } from '../db/send-rate.ts';
import { suppressionPads } from '../db/suppressions.ts';
import { deriveKey } from '../domain/secrets.ts';
import type { KeyPads } from '../domain/suppression.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { ActivityDeps } from './deps.ts';
import type { Delivery, Mailer } from './mailer.ts';

/** Mails claimed at a time: few enough that consent is read right before they leave, enough to share the statement. */
const CLAIM_MAX = 40;
/** So long a turn is waited for here; after it the activity's place is free for other projects. */
const WAIT_HERE_MS = 1_500;
/** Far below the heartbeat timeout of the workflow. */
const HEARTBEAT_MS = 3_000;

/** Postgres was away for longer than the settler waits for it. */
const UNRECORDED_MS = 30_000;

/** A mail that has to wait. `paid`, of an earlier version, has taken its place in the project's send rate, for `dueAt`. */
export interface WaitingMail {
  id: string;
  /** ISO 8601. */
  dueAt: string;
  paid: boolean;
}

export interface SendMailsInput {
  projectId: string;
  mails: { id: string; paid: boolean }[];
  /** ISO 8601: what is refused for now after this is given up. */
  expiresAt: string;
}

export interface SendMailsResult {
  sent: number;
  /** FAILED, BOUNCED or HELD, or taken by another delivery. */
  other: number;
  waiting: WaitingMail[];
}

export type DeliveryActivities = ReturnType<typeof deliveryActivities>;

export const deliveryActivities = (deps: ActivityDeps) => {
  const pads = suppressionPads(deriveKey(deps.config.secretKey, 'suppression'));
  return {
    /**
     * Sends a group of single mails of a project, and answers which have to wait until when. May run again: each mail is claimed by its
     * delivery (the workflow), and what is settled is not taken twice.
     */
    async sendMails(input: SendMailsInput): Promise<SendMailsResult> {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await sendGroup({ ...deps, pads, stop: context.cancellationSignal }, input, deliveryIdOf(context.info));
      } finally {
        clearInterval(beat);
      }
    },

    /** Ends what a cancelled delivery has not delivered; returns how many. May run again. */
    async giveUpMails({ projectId, ids }: { projectId: string; ids: string[] }): Promise<number> {
      return cancelMails(deps.db, { projectId, ids, deliveryId: deliveryIdOf(Context.current().info) });
    },
  };
};

interface GroupDeps {
  config: ActivityDeps['config'];
  db: Db;
  mailer: Mailer;
  pads: KeyPads;
  /** Aborted when the worker stops: no further mails are taken. */
  stop: AbortSignal;
}

async function sendGroup(deps: GroupDeps, input: SendMailsInput, deliveryId: string): Promise<SendMailsResult> {
  const result: SendMailsResult = { sent: 0, other: 0, waiting: [] };
  const rate = await getSendRate(deps.db, input.projectId, deps.config.sendRatePerSecond);
  const untilMs = Date.now() + WAIT_HERE_MS;
  // What an earlier version has let pay goes first, without a further token.
  let rest = input.mails.toSorted((a, b) => Number(b.paid) - Number(a.paid));
  while (rest.length > 0 && !deps.stop.aborted) {
    const { now, retryAfterMs } = await takeTurn(deps, input.projectId, rest, rate);
    rest = rest.slice(now.length);
    if (now.length > 0) await sendBatch(deps, { ...input, mails: now }, deliveryId, result);
    else if (Date.now() + retryAfterMs > untilMs) {
      const dueAt = new Date(Date.now() + retryAfterMs).toISOString();
      result.waiting.push(...rest.map(({ id }) => ({ id, dueAt, paid: false })));
      return result;
    } else await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
  }
  result.waiting.push(...rest.map((mail) => ({ ...mail, dueAt: new Date().toISOString() })));
  return result;
}

/** The first of the mails, as many as the send rate has room for; none, and when to ask again, while it has none. */
async function takeTurn(deps: GroupDeps, projectId: string, mails: SendMailsInput['mails'], ratePerSecond: number) {
  const batch = mails.slice(0, CLAIM_MAX);
  const paid = batch.filter((mail) => mail.paid);
  if (paid.length > 0) return { now: paid, retryAfterMs: 0 };
  const taken = await takeSendTokens(deps.db, { projectId, n: batch.length, ratePerSecond, order: 'single' });
  return { now: batch.slice(0, taken.granted), retryAfterMs: taken.retryAfterMs };
}

async function sendBatch(
  deps: GroupDeps,
  input: SendMailsInput,
  deliveryId: string,
  result: SendMailsResult,
): Promise<void> {
  const { projectId, mails } = input;
  const claimed = await claimEmails(deps.db, {
    projectId,
    mails: mails.map(({ id }) => ({ id, deliveryId })),
    suppressionPads: deps.pads,
  });
  result.other += mails.length - claimed.length;
  const expiresAt = new Date(input.expiresAt);
  // One that fails does not end the others: they would go on unseen, and leave twice when the activity is tried again.
  const deliveries = await Promise.allSettled(
    claimed.map((email) => deps.mailer.deliver(email, undefined, { expiresAt })),
  );
  for (const [index, delivery] of deliveries.entries()) count(result, claimed[index]?.id ?? '', delivery);
}

function count(result: SendMailsResult, id: string, delivery: PromiseSettledResult<Delivery<undefined>>): void {
  if (delivery.status === 'rejected') {
    // Its result could not be recorded: it is claimed again, and leaves with the same Message-ID.
    result.waiting.push({ id, dueAt: new Date(Date.now() + UNRECORDED_MS).toISOString(), paid: false });
    return;
  }
  const { outcome } = delivery.value;
  if (outcome.kind === 'later') result.waiting.push({ id, dueAt: outcome.dueAt.toISOString(), paid: false });
  else if (outcome.kind === 'sent') result.sent += 1;
  else result.other += 1;
}
