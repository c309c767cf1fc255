import type { Logger } from 'pino';
import type { EmailProvider, ProviderResult } from '../../channels/email/provider.ts';
import { providerAddress } from '../../channels/email/providers.ts';
import { type Compute, OverBudget, type PaidFor } from '../../compute/compute.ts';
import type { Db } from '../../db/connection.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { type ClaimedEmail, releaseEmail } from '../../db/sending/email-ledger.ts';
import { takeMonthlyAllowance } from '../../db/sending/monthly-usage.ts';
import type { EmailResult } from '../../engine/attempts/email-outcomes.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import {
  type AttemptOutcome,
  failWith,
  isUntried,
  type RecordedOutcome,
  refuseWith,
  type UntriedOutcome,
} from '../../rules/emails/attempt-outcome.ts';
import { emailDomain } from '../../rules/emails/email-address.ts';
import { DELIVERY_EXPIRES_MS } from '../../rules/emails/retry-schedule.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import { withheldAs } from '../../rules/emails/withheld.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import { createHoldGuard, type HoldGuard } from '../hold-guard.ts';
import { defer, refusalOf, statusOf, windowOpensAt } from './decision.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { createEmailMessages, type EmailMessages, type ReadyEmail } from './message.ts';
import { OPEN_ROUTE, type RouteWatch } from './route-watch.ts';
import { createEmailSettler, type SettleHook } from './settler.ts';

/**
 * The limit of single emails of a process that are on the wire, or replied to but not committed yet. If the process is
 * killed, at most this many are sent twice (docs/decisions.md).
 */
const IN_FLIGHT_MAX = 60;
/** The limit of one project, so that some slots stay free for others. */
const IN_FLIGHT_OF_PROJECT = 48;
/** The longest wait of a large email for its turn. Afterwards it frees its slot and is attempted later. */
const LARGE_WAIT_MS = 1_000;

/**
 * An email that was refused because of our server may be deferred for at least this long after a pause of its route,
 * even if it has expired.
 */
const ROUTE_GRACE_MS = 2 * 60 * 60_000;

/** The result of one attempt to deliver an email. */
export interface Delivery<T> {
  outcome: AttemptOutcome;
  /** False if another attempt has claimed the email since. Then nothing was recorded and the hook did not run. */
  recorded: boolean;
  /** The value that the hook returned. Undefined if it did not run. */
  settled: T | undefined;
}

export interface DeliverOptions {
  /** An email that is still deferred at this instant is marked as failed; by default a day after it was accepted. */
  expiresAt?: Date;
  /** Aborted when the caller no longer waits: an email that is not on the wire by then is not sent. */
  stop?: AbortSignal;
}

export interface Mailer {
  /**
   * Decides whether a claimed email may be sent, renders, signs and sends it, and records the outcome in one
   * transaction. The hook runs in that transaction, also for deferred emails, together with other emails that are
   * settled with the same hook. An email whose result is unknown is deferred and sent again with the same Message-ID.
   * Rejects only if the database or our own code fails. The email then stays claimed, and the same delivery claims it
   * again.
   */
  deliver<T = undefined>(
    email: ClaimedEmail,
    whenSettled?: SettleHook<T>,
    options?: DeliverOptions,
  ): Promise<Delivery<T>>;
}

interface MailerDeps {
  config: Config;
  db: Db;
  provider: EmailProvider;
  compute: Compute;
  outbox: OutboxWaker;
  log: Pick<Logger, 'warn'>;
  ends: SampledLog;
  route?: RouteWatch;
}

/** Creates the mailer, one per process. It keeps compiled contents and opened keys, and limits the emails in flight. */
export function createMailer(deps: MailerDeps): Mailer {
  const { config, db, provider, outbox, compute, route = OPEN_ROUTE } = deps;
  const messages = createEmailMessages(deps);
  const via = `${provider.kind} (${providerAddress(config.email)})`;
  const limit = new InFlightLimit({ max: IN_FLIGHT_MAX, ofProject: IN_FLIGHT_OF_PROJECT });
  const guard = createHoldGuard({ db, dnsServers: config.dnsServers, log: deps.log });
  const settler = createEmailSettler({
    db,
    guard,
    ends: deps.ends,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
    source: provider.kind,
    outbox,
  });
  const prepareMessage = createPreparer({ messages, route, via, log: deps.log });
  const attempt = createSender({ db, provider, route, via, guard });

  /** Releases the claim of an email that was not attempted. */
  async function releaseUnattempted(email: ClaimedEmail, outcome: UntriedOutcome) {
    await releaseEmail(db, email);
    return { outcome, recorded: false, settled: undefined };
  }

  async function deliverOne<T>({ email, whenSettled, options }: Order<T>, inThread?: PaidFor): Promise<Delivery<T>> {
    const expiresAt = options?.expiresAt ?? new Date(email.createdAt.getTime() + DELIVERY_EXPIRES_MS);
    // Prepares the message before the email takes a slot, so that a slow message delays no other email.
    const ready = await prepareMessage(email, expiresAt, inThread);
    if ('kind' in ready && isUntried(ready)) return releaseUnattempted(email, ready);
    return limit.run(email.projectId, async () => {
      // Checks this last: the wait for a slot may have been long, and another attempt may have claimed the email since.
      if (options?.stop?.aborted) return releaseUnattempted(email, { kind: 'stopped' });
      const result = await attempt({ email, ready, expiresAt, stop: options?.stop });
      const { recorded, value } = await settler.settle(result, whenSettled);
      return { outcome: result.outcome, recorded, settled: value };
    });
  }

  return {
    async deliver(email, whenSettled, options) {
      const order = { email, whenSettled, options };
      // A withheld email uses none of its project's budget.
      const bytes = withheldAs(email) || !email.to ? 0 : await messages.largeBytes(email);
      if (bytes === 0) return deliverOne(order);
      const work = { projectId: email.projectId, kind: 'email.large', maxWaitMs: LARGE_WAIT_MS };
      try {
        // Keeps the slot until the email is settled, because the email is in memory until then.
        return await compute.largeMail(work, bytes, (inThread) => deliverOne(order, inThread));
      } catch (error) {
        if (error instanceof OverBudget) return releaseUnattempted(email, overBudget(error));
        throw error;
      }
    },
  };
}

/** The provider's route for email, and its name for the log. */
interface EmailRoute {
  route: RouteWatch;
  /** The provider and its address. */
  via: string;
}

/** Returns the function that prepares a message, or decides an outcome for which no message is needed. */
function createPreparer(deps: EmailRoute & { messages: EmailMessages; log: Pick<Logger, 'warn'> }) {
  const { messages, route, via, log } = deps;

  /**
   * Decides the outcome of an email that could not be prepared. An error in the tenant's content fails the email. A
   * failure of ours (a key that cannot be decrypted, Postgres unreachable) defers it, so that other emails are not
   * delayed.
   */
  function outcomeWithoutMessage(email: ClaimedEmail, error: unknown, expiresAt: Date): AttemptOutcome {
    if (error instanceof OverBudget) return overBudget(error);
    if (error instanceof TemplateError) {
      return failWith(
        'template_error',
        `${error.field}: ${error.message} (line ${error.line}, column ${error.column})`,
      );
    }
    log.warn(
      { emailId: email.id, reason: describeFailure(error) },
      'an email could not be composed; it will be retried',
    );
    return defer(email, { error: 'the email could not be composed', status: 'not rendered', route: via, expiresAt });
  }

  return async (email: ClaimedEmail, expiresAt: Date, inThread?: PaidFor): Promise<ReadyEmail | AttemptOutcome> => {
    const withheld = withheldAs(email);
    if (withheld) return withheld;
    if (!email.to) return failWith('contact_deleted');
    const dueAt = windowOpensAt(email);
    if (dueAt) return { kind: 'outside_window', dueAt };
    const pausedUntil = isOnRoute(email) ? await route.readPauseEnd(email.projectId) : undefined;
    if (pausedUntil) return { kind: 'throttled', cause: 'route', dueAt: pausedUntil };
    return messages
      .composeMessage(email, email.to, inThread)
      .catch((error: unknown) => outcomeWithoutMessage(email, error, expiresAt));
  };
}

/** Returns the function that sends a prepared message, and decides the outcome from the provider's reply. */
function createSender(deps: EmailRoute & { db: Db; provider: EmailProvider; guard: HoldGuard }) {
  const { db, provider, route, via, guard } = deps;

  return async ({ email, ready, expiresAt, stop }: SendAttempt): Promise<EmailResult> => {
    const refused = 'kind' in ready ? ready : await overLimit(db, email);
    if ('kind' in ready || refused || !email.to) {
      return { email, outcome: refused ?? failWith('contact_deleted'), event: null };
    }
    if (email.mode === 'test') return { email, ...sentAs(ready, null) };
    const result = await provider.send(ready.message, stop);
    if (isOnRoute(email)) {
      const { id, projectId, from, to } = ready.message;
      route.onResult({ id, projectId, to, senderHost: emailDomain(from) }, result);
    }
    const { outcome, event } = outcomeOf({ email, ready, result, expiresAt, route, via });
    return { email, event, outcome: await guard.nameMailboxProvider(outcome, email.to.email) };
  };
}

interface Order<T> {
  email: ClaimedEmail;
  whenSettled: SettleHook<T> | undefined;
  options: DeliverOptions | undefined;
}

function overBudget({ retryAfterMs }: OverBudget): UntriedOutcome {
  return { kind: 'throttled', cause: 'budget', dueAt: new Date(Date.now() + retryAfterMs) };
}

/**
 * Tells whether the email exceeds a limit of its project. Emails of workflows count when they are first sent; emails of
 * the API were counted when they were accepted.
 */
async function overLimit(db: Db, email: ClaimedEmail): Promise<RecordedOutcome | undefined> {
  if (email.sourceType !== 'WORKFLOW' || email.mode === 'test' || email.attempts > 1 || isSimulated(email))
    return undefined;
  const { projectId } = email;
  const fits = await takeMonthlyAllowance(db, { projectId, n: 1, limit: email.project.monthlyEmailLimit });
  return fits ? undefined : failWith('limit_reached');
}

/** Tells whether the email uses the provider's route. Emails of test keys and to the simulator do not. */
function isOnRoute(email: ClaimedEmail): boolean {
  return email.mode === 'live' && !isSimulated(email);
}

interface SendAttempt {
  email: ClaimedEmail;
  ready: ReadyEmail | RecordedOutcome;
  expiresAt: Date;
  stop: AbortSignal | undefined;
}

type OutcomeOfAttempt = Pick<EmailResult, 'outcome' | 'event'>;

function outcomeOf(
  p: EmailRoute & { email: ClaimedEmail; ready: ReadyEmail; result: ProviderResult; expiresAt: Date },
): OutcomeOfAttempt {
  const { email, ready, result, route, via } = p;
  if (result.outcome === 'accepted') return sentAs(ready, result.providerMessageId);
  const words = result.outcome === 'refused' ? `${result.code} ${result.text}` : result.error;
  const refusal = refusalOf(result);
  const waits = refusal !== undefined && isOnRoute(email) && route.shouldWait(refusal, email.attempts);
  // After a pause of its route, an email gets one more attempt, even if it has expired meanwhile.
  const expiresAt = waits ? new Date(Math.max(p.expiresAt.getTime(), Date.now() + ROUTE_GRACE_MS)) : p.expiresAt;
  if (refusal && !refusal.retry && !waits) return { outcome: refuseWith(refusal, words), event: ready.event };
  return {
    outcome: defer(email, { error: words, status: statusOf(result), route: via, expiresAt }),
    event: ready.event,
  };
}

/**
 * Returns the ids of a sent email. A provider without its own ids (capture) returns ours, so the Message-ID is
 * recorded instead.
 */
function sentAs({ event }: ReadyEmail, providerMessageId: string | null): OutcomeOfAttempt {
  const own = providerMessageId === null || providerMessageId === event.emailId;
  const messageId = own ? event.messageId : providerMessageId;
  return {
    outcome: { kind: 'accepted', providerMessageId: messageId, subject: event.subject },
    event: { ...event, messageId },
  };
}
