import type { Logger } from 'pino';
import type { EmailProvider, ProviderResult } from '../../channels/email/provider.ts';
import { getProviderAddress } from '../../channels/email/providers.ts';
import { type Compute, OverBudget, type RunPrepaidTask } from '../../compute/compute.ts';
import type { Db } from '../../db/connection.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { type ClaimedEmail, releaseEmail } from '../../db/sending/email-ledger.ts';
import { takeMonthlyAllowance } from '../../db/sending/monthly-usage.ts';
import type { EmailResult } from '../../engine/attempts/email-outcomes.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { findWindowOpening } from '../../rules/campaigns/gate.ts';
import type { Config } from '../../rules/config.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import {
  type AttemptOutcome,
  createFailedOutcome,
  createRefusedOutcome,
  isUntried,
  type RecordedOutcome,
  type UntriedOutcome,
} from '../../rules/emails/attempt-outcome.ts';
import { emailDomain } from '../../rules/emails/email-address.ts';
import { postponeExpiry } from '../../rules/emails/postponed-expiry.ts';
import { DELIVERY_EXPIRES_MS } from '../../rules/emails/retry-schedule.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import { decideWithholding } from '../../rules/emails/withheld.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import { createHoldGuard, type HoldGuard } from '../hold-guard.ts';
import { deferOrExpire, describeResult, getRefusal } from './decision.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { createEmailMessages, type EmailMessages, type ReadyEmail } from './message.ts';
import { OPEN_ROUTE, type RouteWatch } from './route-watch.ts';
import { createEmailSettler, type SettleHook } from './settler.ts';

/**
 * The maximum number of single emails of a process that are in flight: on the wire, or with a reply that is not
 * recorded yet. If the process is killed, at most this many emails are sent twice (docs/decisions.md).
 */
const IN_FLIGHT_MAX = 60;
/** The maximum number of emails in flight of one project, so that some slots stay free for other projects. */
const IN_FLIGHT_OF_PROJECT = 48;
/**
 * The longest time that a large email waits for the computing budget. If the wait would be longer, the email is
 * attempted later.
 */
const LARGE_WAIT_MS = 1_000;

/**
 * An email that the provider refused because of our server, and not because of its recipient, may be attempted for at
 * least this long after the refusal, even if it would expire earlier. The email therefore gets an attempt after the
 * pause of its route.
 */
const ROUTE_GRACE_MS = 2 * 60 * 60_000;

/** The result of one attempt to deliver an email. */
export interface Delivery<T> {
  outcome: AttemptOutcome;
  /**
   * False if the email was not attempted, or if another attempt has claimed the email in the meantime. In both cases,
   * this attempt recorded nothing, and the hook `whenSettled` did not run.
   */
  recorded: boolean;
  /** The value that the hook returned. Undefined if the hook did not run. */
  settled: T | undefined;
}

export interface DeliverOptions {
  /**
   * An email that is still deferred at this instant is marked as failed. The default is one day after the email was
   * accepted. The time during which the email's sending window was closed does not count.
   */
  expiresAt?: Date;
  /** Aborted when the caller no longer waits for the result. An email that is not on the wire by then is not sent. */
  stop?: AbortSignal;
}

export interface Mailer {
  /**
   * Decides whether a claimed email may be sent, renders, signs and sends it, and records the outcome in one
   * transaction. The hook `whenSettled` runs in the same transaction, also for deferred emails. It runs once for all
   * emails of the transaction that have the same hook. If the provider's result is unknown, the email is deferred and
   * sent again with the same Message-ID. The promise rejects only if the database or our own code fails. The email then
   * stays claimed, and the same delivery can claim it again.
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
  endLog: SampledLog;
  routeWatch?: RouteWatch;
}

/**
 * Creates the mailer. A process has one mailer, which keeps compiled contents and decrypted keys in memory, and limits
 * the emails in flight.
 */
export function createMailer(deps: MailerDeps): Mailer {
  const { config, db, provider, outbox, compute, routeWatch = OPEN_ROUTE } = deps;
  const messages = createEmailMessages(deps);
  const via = `${provider.kind} (${getProviderAddress(config.email)})`;
  const limit = new InFlightLimit({ max: IN_FLIGHT_MAX, ofProject: IN_FLIGHT_OF_PROJECT });
  const guard = createHoldGuard({ db, dnsServers: config.dnsServers, log: deps.log });
  const settler = createEmailSettler({
    db,
    guard,
    endLog: deps.endLog,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
    source: provider.kind,
    outbox,
  });
  const prepareMessage = createPreparer({ messages, routeWatch, via, log: deps.log });
  const attempt = createSender({ db, provider, routeWatch, via, guard });

  /** Releases the claim of an email that was not attempted. */
  async function releaseUnattempted(email: ClaimedEmail, outcome: UntriedOutcome) {
    await releaseEmail(db, email);
    return { outcome, recorded: false, settled: undefined };
  }

  async function deliverOne<T>(
    { email, whenSettled, options }: Order<T>,
    inThread?: RunPrepaidTask,
  ): Promise<Delivery<T>> {
    const expiresAt = postponeExpiry(
      options?.expiresAt ?? new Date(email.createdAt.getTime() + DELIVERY_EXPIRES_MS),
      email.clock,
      Date.now(),
    );
    // Prepares the message before the email takes a slot, so that a message that takes long to compose delays no other
    // email.
    const ready = await prepareMessage(email, expiresAt, inThread);
    if ('kind' in ready && isUntried(ready)) return releaseUnattempted(email, ready);
    return limit.run(email.projectId, async () => {
      // Checks `stop` only now, because the wait for a slot may have been long.
      if (options?.stop?.aborted) return releaseUnattempted(email, { kind: 'stopped' });
      const result = await attempt({ email, ready, expiresAt, stop: options?.stop });
      const { recorded, value } = await settler.settle(result, whenSettled);
      return { outcome: result.outcome, recorded, settled: value };
    });
  }

  return {
    async deliver(email, whenSettled, options) {
      const order = { email, whenSettled, options };
      // An email that will not be sent counts as 0 bytes, so it uses none of its project's computing budget.
      const bytes = decideWithholding(email) || !email.to ? 0 : await messages.findLargeBytes(email);
      if (bytes === 0) return deliverOne(order);
      const work = { projectId: email.projectId, kind: 'email.large', maxWaitMs: LARGE_WAIT_MS };
      try {
        // Keeps the slot for a large email until the email is settled, because the email is in memory until then.
        return await compute.runLargeEmail(work, bytes, (inThread) => deliverOne(order, inThread));
      } catch (error) {
        if (error instanceof OverBudget) return releaseUnattempted(email, throttleByBudget(error));
        throw error;
      }
    },
  };
}

interface EmailRoute {
  /** Tells whether the route to the provider is paused. */
  routeWatch: RouteWatch;
  /** The kind of the provider and its address, for the result of the last attempt that Temporal shows. */
  via: string;
}

/**
 * Returns a function that prepares the message of an email. If the email is not to be sent now, the function returns
 * the outcome instead.
 */
function createPreparer(deps: EmailRoute & { messages: EmailMessages; log: Pick<Logger, 'warn'> }) {
  const { messages, routeWatch, via, log } = deps;

  /**
   * Decides the outcome of an email that could not be prepared. An error in the tenant's content fails the email. A
   * failure on our side, such as a key that cannot be decrypted or an unreachable Postgres, defers the email, so that
   * it does not delay other emails.
   */
  function createOutcomeWithoutMessage(email: ClaimedEmail, error: unknown, expiresAt: Date): AttemptOutcome {
    if (error instanceof OverBudget) return throttleByBudget(error);
    if (error instanceof TemplateError) {
      return createFailedOutcome(
        'template_error',
        `${error.field}: ${error.message} (line ${error.line}, column ${error.column})`,
      );
    }
    log.warn(
      { emailId: email.id, reason: describeFailure(error) },
      'an email could not be composed; it will be retried',
    );
    return deferOrExpire(email, {
      error: 'the email could not be composed',
      status: 'not rendered',
      route: via,
      expiresAt,
    });
  }

  return async (
    email: ClaimedEmail,
    expiresAt: Date,
    inThread?: RunPrepaidTask,
  ): Promise<ReadyEmail | AttemptOutcome> => {
    const withheld = decideWithholding(email);
    if (withheld) return withheld;
    if (!email.to || email.options.erased) return createFailedOutcome('contact_deleted');
    const dueAt = email.clock && !email.advanced ? findWindowOpening(email.clock, Date.now()) : undefined;
    if (dueAt) return { kind: 'outside_window', dueAt };
    const pausedUntil = isOnRoute(email) ? await routeWatch.readPauseEnd(email.projectId) : undefined;
    if (pausedUntil) return { kind: 'throttled', cause: 'route', dueAt: pausedUntil };
    return messages
      .composeMessage(email, email.to, inThread)
      .catch((error: unknown) => createOutcomeWithoutMessage(email, error, expiresAt));
  };
}

/**
 * Returns a function that sends a prepared message, and decides the outcome of the email from the provider's reply. An
 * email that already has an outcome instead of a message is not sent.
 */
function createSender(deps: EmailRoute & { db: Db; provider: EmailProvider; guard: HoldGuard }) {
  const { db, provider, routeWatch, via, guard } = deps;

  return async ({ email, ready, expiresAt, stop }: SendAttempt): Promise<EmailResult> => {
    const refused = 'kind' in ready ? ready : await countTowardsMonthlyLimit(db, email);
    if ('kind' in ready || refused || !email.to) {
      return { email, outcome: refused ?? createFailedOutcome('contact_deleted'), event: null };
    }
    if (email.mode === 'test') return { email, ...createAcceptedOutcome(ready, null) };
    const result = await provider.send(ready.message, stop);
    if (isOnRoute(email)) {
      const { id, projectId, from, to } = ready.message;
      routeWatch.onResult({ id, projectId, to, senderHost: emailDomain(from) }, result);
    }
    const { outcome, event } = createOutcome({ email, ready, result, expiresAt, routeWatch, via });
    return { email, event, outcome: await guard.nameMailboxProvider(outcome, email.to.email) };
  };
}

interface Order<T> {
  email: ClaimedEmail;
  whenSettled: SettleHook<T> | undefined;
  options: DeliverOptions | undefined;
}

function throttleByBudget({ retryAfterMs }: OverBudget): UntriedOutcome {
  return { kind: 'throttled', cause: 'budget', dueAt: new Date(Date.now() + retryAfterMs) };
}

/**
 * Counts an email of a workflow towards the project's monthly limit, at its first attempt. Returns a failure if the
 * limit is reached. Emails of the API were counted when the API accepted them.
 */
async function countTowardsMonthlyLimit(db: Db, email: ClaimedEmail): Promise<RecordedOutcome | undefined> {
  if (email.sourceType !== 'WORKFLOW' || email.mode === 'test' || email.attempts > 1 || isSimulated(email))
    return undefined;
  const { projectId } = email;
  const fits = await takeMonthlyAllowance(db, { projectId, n: 1, limit: email.project.monthlyEmailLimit });
  return fits ? undefined : createFailedOutcome('limit_reached');
}

/** Tells whether the email is sent to the provider. Emails of test keys and emails to the simulator are not. */
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

function createOutcome(
  p: EmailRoute & { email: ClaimedEmail; ready: ReadyEmail; result: ProviderResult; expiresAt: Date },
): OutcomeOfAttempt {
  const { email, ready, result, routeWatch, via } = p;
  if (result.outcome === 'accepted') return createAcceptedOutcome(ready, result.providerMessageId);
  const errorText = result.outcome === 'refused' ? `${result.code} ${result.text}` : result.error;
  const refusal = getRefusal(result);
  const shouldWait = refusal !== undefined && isOnRoute(email) && routeWatch.shouldWait(refusal, email.attempts);
  // An email that waits for its route gets one more attempt after the pause, even if it expires during the pause.
  const expiresAt = shouldWait ? new Date(Math.max(p.expiresAt.getTime(), Date.now() + ROUTE_GRACE_MS)) : p.expiresAt;
  if (refusal && !refusal.retry && !shouldWait)
    return { outcome: createRefusedOutcome(refusal, errorText), event: ready.event };
  return {
    outcome: deferOrExpire(email, { error: errorText, status: describeResult(result), route: via, expiresAt }),
    event: ready.event,
  };
}

/**
 * Returns the outcome of an email that the provider accepted. A provider without its own message ids (`capture`)
 * returns our id of the email. The Message-ID is then recorded instead.
 */
function createAcceptedOutcome({ event }: ReadyEmail, providerMessageId: string | null): OutcomeOfAttempt {
  const isOurId = providerMessageId === null || providerMessageId === event.emailId;
  const messageId = isOurId ? event.messageId : providerMessageId;
  return {
    outcome: { kind: 'accepted', providerMessageId: messageId, subject: event.subject },
    event: { ...event, messageId },
  };
}
