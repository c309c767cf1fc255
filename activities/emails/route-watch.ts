import type { Logger } from 'pino';
import type { EmailProvider, ProviderResult } from '../../channels/email/provider.ts';
import type { Db } from '../../db/connection.ts';
import {
  type DueProbe,
  endPausesOfOtherRoutes,
  endRoutePause,
  findAnySenderHost,
  listRoutePauses,
  pauseRoute,
  type RoutePause,
  recordRouteReply,
  takeDueProbes,
} from '../../db/sending/route-pauses.ts';
import { createProbeEnvelope } from '../../rules/emails/probe-envelope.ts';
import { classifyRefusal, type Refusal } from '../../rules/emails/refusal.ts';
import { fingerprintRefusal, RouteRefusals, toReplyCodes, toReplyLine } from '../../rules/emails/route-refusals.ts';
import { describeFailure } from '../../rules/failure-text.ts';

/**
 * The pauses in memory are read from Postgres again after this time, because other processes pause and resume routes
 * too.
 */
const FRESH_MS = 5_000;
/**
 * Waiting email checks its route again after `RECHECK_MS`. If the route has been paused for longer than
 * `RECHECK_LATER_AFTER_MS`, the email checks after `RECHECK_LATER_MS`.
 */
const RECHECK_MS = 10_000;
const RECHECK_LATER_MS = 60_000;
const RECHECK_LATER_AFTER_MS = 5 * 60_000;
/**
 * A probe tests a paused route without sending an email. A process checks every `TICK_MS` whether a probe is due. The
 * wait between two probes grows from `FIRST_PROBE_SECONDS` to `MOST_PROBE_SECONDS`.
 */
const TICK_MS = 10_000;
const FIRST_PROBE_SECONDS = 15;
const MOST_PROBE_SECONDS = 600;
/**
 * A probe stops after MAIL and RCPT. If the provider refuses only the content of messages, a probe would therefore
 * succeed. After this time, a real email tests such a route.
 */
const TRIAL_SECONDS = 600;

/** An email to which the provider replied, with the addresses of its envelope. */
export interface RepliedEmail {
  projectId: string;
  id: string;
  to: string;
  /** The domain of the envelope sender. */
  senderHost: string;
}

/**
 * Watches whether the provider accepts our email, and makes email wait while the provider refuses it. Each process has
 * one instance.
 */
export interface RouteWatch {
  /** Returns when waiting email of the project should check its route again. Undefined if the route is not paused. */
  readPauseEnd(projectId: string): Promise<Date | undefined>;
  /**
   * Tells whether the project's route is paused. Reads only the memory of this process, and makes no query, so it may
   * be called for each of many emails.
   */
  isPaused(projectId: string): boolean;
  /**
   * Receives the result of every email that was on the wire. The route is paused after several refusals in a row that
   * are about our server and not about the recipients.
   */
  onResult(email: RepliedEmail, result: ProviderResult): void;
  /** Tells whether an email with this refusal should wait until its route works again, instead of failing. */
  shouldWait(refusal: Refusal, attempts: number): boolean;
  close(): Promise<void>;
}

type Refused = Extract<ProviderResult, { outcome: 'refused' }>;

/** A route that is never paused. Used where no route is watched, as in tests that are not about routes. */
export const OPEN_ROUTE: RouteWatch = {
  readPauseEnd: async () => undefined,
  isPaused: () => false,
  onResult: () => {},
  shouldWait: () => false,
  close: async () => {},
};

export interface RouteWatchDeps {
  db: Db;
  log: Pick<Logger, 'info' | 'warn'>;
  /** A text that identifies the provider and its settings. */
  route: string;
  /** The provider's address, for the log. */
  address: string;
  /** The domain of the envelope sender, if it is the same for all emails. */
  returnPathDomain?: string | undefined;
  provider: Pick<EmailProvider, 'kind' | 'probe'>;
  /** Milliseconds between two checks whether a probe is due. */
  tickMs?: number;
}

export function createRouteWatch(deps: RouteWatchDeps): RouteWatch {
  const { db, log, route, address, provider } = deps;
  const providerFields = { provider: provider.kind, address };
  const refusals = new RouteRefusals();
  const pauseCache = createPauseCache(db, route, () => refusals.resetAfterPause());
  const runningWork = new Set<Promise<unknown>>();

  function track(work: Promise<unknown>, failureMessage: string): void {
    const done = work
      .catch((error: unknown) => log.warn({ ...providerFields, reason: describeFailure(error) }, failureMessage))
      .finally(() => runningWork.delete(done));
    runningWork.add(done);
  }

  async function pause(email: Omit<RepliedEmail, 'projectId'>, refusal: Refused, projectIds: string[]) {
    pauseCache.addToMemory(projectIds, refusal.stage);
    const isTrial = refusal.stage === 'data' || refusal.stage === 'message' || !provider.probe;
    const first = isTrial ? TRIAL_SECONDS : FIRST_PROBE_SECONDS;
    const paused = await pauseRoute(db, {
      route,
      projectIds,
      refusal: fingerprintRefusal(refusal),
      stage: refusal.stage,
      reply: toReplyLine(refusal),
      senderHost: email.senderHost,
      emailId: email.id || null,
      nextProbeAt: new Date(Date.now() + first * 1_000),
    });
    pauseCache.markStale();
    await pauseCache.refresh();
    if (!paused) return;
    const { projectId, stage } = paused;
    log.warn(
      { ...providerFields, projectId, stage, status: toReplyCodes(refusal) },
      'the route is paused: the mail server refuses email because of our server, not because of the recipients; email waits',
    );
  }

  const prober = createProber({ ...deps, providerFields, pauseCache });

  /**
   * Probes the provider once when the process starts, so that an operator sees a wrong login before the first email is
   * sent.
   */
  async function probeAtStart(): Promise<void> {
    const refusal = await prober.probeAtStart();
    if (!refusal) return;
    const { result, senderHost } = refusal;
    const isLogin = result.stage === 'auth' && !refusals.isProven && pauseCache.isEmpty();
    if (isLogin) await pause({ id: '', to: '', senderHost }, result, []);
  }
  track(probeAtStart(), 'the mail server was not probed at the start');

  let isProbing = false;
  const timer = setInterval(() => {
    if (isProbing) return;
    isProbing = true;
    const work = prober.probeDue().finally(() => {
      isProbing = false;
    });
    track(work, 'paused routes were not probed');
  }, deps.tickMs ?? TICK_MS);
  timer.unref();

  return {
    async readPauseEnd(projectId) {
      await pauseCache.refresh();
      const found = pauseCache.find(projectId);
      if (!found) return undefined;
      const isNew = Date.now() - found.since.getTime() < RECHECK_LATER_AFTER_MS;
      return new Date(Date.now() + (isNew ? RECHECK_MS : RECHECK_LATER_MS));
    },
    isPaused: (projectId) => pauseCache.find(projectId) !== undefined,
    onResult(email, result) {
      if (result.outcome === 'accepted') {
        refusals.recordAccepted(email.projectId);
        return;
      }
      if (result.outcome !== 'refused' || pauseCache.find(email.projectId)) return;
      const { projectId, to } = email;
      const projectIds = refusals.recordRefused({ refusal: classifyRefusal(result), by: result, projectId, to });
      if (projectIds) track(pause(email, result, projectIds), 'a route was not paused');
    },
    shouldWait: (refusal, attempts) => refusal.about === 'us' && refusals.shouldWait(attempts),
    async close() {
      clearInterval(timer);
      prober.abort();
      await Promise.all(runningWork);
    },
  };
}

type PauseCache = ReturnType<typeof createPauseCache>;

/**
 * Creates a cache of a route's pauses. The cache reads the pauses from Postgres again when the cached pauses are older
 * than `FRESH_MS`.
 */
function createPauseCache(db: Db, route: string, onChange: () => void) {
  let pauses: RoutePause[] = [];
  let freshUntil = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const found = await listRoutePauses(db, route);
    const ids = new Set(found.map(({ id }) => id));
    const changed = found.length !== pauses.length || pauses.some(({ id }) => !ids.has(id));
    if (changed) onChange();
    pauses = found;
    freshUntil = Date.now() + FRESH_MS;
  }

  return {
    isEmpty: () => pauses.length === 0,
    /** Returns the pause that applies to the project's email. */
    find: (projectId: string) => pauses.find((pause) => pause.projectId === null || pause.projectId === projectId),
    /**
     * Adds a pause to the memory of this process at once, so that no more email is sent before the pause is stored in
     * Postgres.
     */
    addToMemory(projectIds: string[], stage: RoutePause['stage']): void {
      const [only = null, ...others] = projectIds;
      const projectId = others.length > 0 ? null : only;
      const now = new Date();
      pauses = [...pauses, { id: '', projectId, stage, reply: '', since: now, nextProbeAt: now }];
      freshUntil = Date.now() + FRESH_MS;
    },
    markStale(): void {
      freshUntil = 0;
    },
    async refresh(): Promise<void> {
      if (Date.now() < freshUntil) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
  };
}

/**
 * Creates the prober. It checks, without sending an email, whether the provider accepts our email, and ends a pause
 * when the provider accepts.
 */
function createProber(
  deps: RouteWatchDeps & { providerFields: { provider: string; address: string }; pauseCache: PauseCache },
) {
  const { db, log, route, provider, providerFields, pauseCache } = deps;
  const stopping = new AbortController();

  async function probeRoute({ id, stage, senderHost, to }: DueProbe): Promise<void> {
    const fallback = createProbeEnvelope(senderHost);
    const isLogin = stage === 'auth' && to === null;
    const envelope = isLogin ? null : { from: fallback.from, to: to ?? fallback.to };
    const result = (await provider.probe?.(envelope, stopping.signal)) ?? { outcome: 'accepted' as const };
    if (result.outcome === 'unsent') return;
    if (result.outcome === 'refused' && classifyRefusal(result).about === 'us') {
      await recordRouteReply(db, { id, reply: toReplyLine(result) });
      return;
    }
    if (!(await endRoutePause(db, id))) return;
    pauseCache.markStale();
    log.info({ ...providerFields }, 'the route takes email again: the pause is over');
  }

  return {
    async probeDue(): Promise<void> {
      if (pauseCache.isEmpty()) await pauseCache.refresh();
      if (pauseCache.isEmpty()) return;
      const seconds = { firstSeconds: FIRST_PROBE_SECONDS, mostSeconds: MOST_PROBE_SECONDS };
      const due = await takeDueProbes(db, { route, ...seconds });
      for (const probe of due) await probeRoute(probe);
    },
    /** Probes the provider once. If the provider permanently refuses our email, logs the refusal and returns it. */
    async probeAtStart(): Promise<{ result: Refused; senderHost: string } | undefined> {
      await endPausesOfOtherRoutes(db, route);
      const senderHost = deps.returnPathDomain ?? (await findAnySenderHost(db));
      const envelope = senderHost === undefined ? null : createProbeEnvelope(senderHost);
      const result = await provider.probe?.(envelope, stopping.signal);
      if (result?.outcome !== 'refused' || stopping.signal.aborted) return undefined;
      if (classifyRefusal(result).about !== 'us' || result.code < 500) return undefined;
      log.warn(
        { ...providerFields, stage: result.stage, status: toReplyCodes(result) },
        'the mail server does not take our email: it refused a probe',
      );
      return { result, senderHost: senderHost ?? '' };
    },
    abort: () => stopping.abort(),
  };
}
