import type { Logger } from 'pino';
import type { EmailProvider, ProviderResult } from '../../channels/email/provider.ts';
import type { Db } from '../../db/connection.ts';
import {
  type DueProbe,
  endPausesOfOtherRoutes,
  endRoutePause,
  findAnySenderHost,
  listRoutePauses,
  noteRouteReply,
  pauseRoute,
  type RoutePause,
  takeDueProbes,
} from '../../db/sending/route-pauses.ts';
import { probeEnvelope } from '../../rules/emails/probe-envelope.ts';
import { judgeRefusal, type Refusal } from '../../rules/emails/refusal.ts';
import { RouteRefusals, refusalFingerprint, replyCodesOf, replyOf } from '../../rules/emails/route-refusals.ts';
import { describeFailure } from '../../rules/failure-text.ts';

/** The maximum age of the pauses in memory. Other processes pause and resume routes as well. */
const FRESH_MS = 5_000;
/** The intervals at which waiting email checks its route: short at first, longer later. */
const LOOK_MS = 10_000;
const LOOK_LATER_MS = 60_000;
const LATER_MS = 5 * 60_000;
/** How often a process checks whether a probe is due, and the first and last wait between two probes. */
const TICK_MS = 10_000;
const FIRST_PROBE_SECONDS = 15;
const MOST_PROBE_SECONDS = 600;
/**
 * If the provider refuses only the message itself, a probe with MAIL and RCPT passes. Such a route is tested with real
 * email after this time.
 */
const TRIAL_SECONDS = 600;

/** An email to which the provider replied, with its envelope. */
export interface RepliedEmail {
  projectId: string;
  id: string;
  to: string;
  /** The domain of the envelope sender. */
  senderHost: string;
}

/** Watches whether the provider accepts our email, and makes email wait while it does not. There is one per process. */
export interface RouteWatch {
  /** Returns when email of the project should check again; undefined when the route accepts it. */
  readPauseEnd(projectId: string): Promise<Date | undefined>;
  /** Tells the same from memory, for a loop over many emails. */
  isPaused(projectId: string): boolean;
  /** Receives the result of every email on the wire. Consecutive refusals because of our server pause the route. */
  onResult(email: RepliedEmail, result: ProviderResult): void;
  /** Tells whether an email with this refusal should wait for its route instead of failing. */
  shouldWait(refusal: Refusal, attempts: number): boolean;
  close(): Promise<void>;
}

type Refused = Extract<ProviderResult, { outcome: 'refused' }>;

/** A route that is never paused, for tests that are not about routes. */
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
  /** Identifies the provider with its settings. */
  route: string;
  /** The provider's address, for the log. */
  address: string;
  /** The host of the envelope sender, if it is the same for all emails. */
  returnPathDomain?: string | undefined;
  provider: Pick<EmailProvider, 'kind' | 'probe'>;
  /** Milliseconds between two checks whether a probe is due. */
  tickMs?: number;
}

export function createRouteWatch(deps: RouteWatchDeps): RouteWatch {
  const { db, log, route, address, provider } = deps;
  const about = { provider: provider.kind, address };
  const refusals = new RouteRefusals();
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let pauses: RoutePause[] = [];
  let freshUntil = 0;
  let reading: Promise<void> | undefined;

  function track(work: Promise<unknown>, whatFailed: string): void {
    const done = work
      .catch((error: unknown) => log.warn({ ...about, reason: describeFailure(error) }, whatFailed))
      .finally(() => underWay.delete(done));
    underWay.add(done);
  }

  async function readPauses(): Promise<void> {
    const found = await listRoutePauses(db, route);
    const ids = new Set(found.map(({ id }) => id));
    const changed = found.length !== pauses.length || pauses.some(({ id }) => !ids.has(id));
    if (changed) refusals.paused();
    pauses = found;
    freshUntil = Date.now() + FRESH_MS;
  }

  async function refresh(): Promise<void> {
    if (Date.now() < freshUntil) return;
    reading ??= readPauses().finally(() => {
      reading = undefined;
    });
    await reading;
  }

  const pauseOf = (projectId: string) =>
    pauses.find((pause) => pause.projectId === null || pause.projectId === projectId);

  async function pause(email: Omit<RepliedEmail, 'projectId'>, by: Refused, projectIds: string[]) {
    // Applies the pause in this process at once, so no more email is sent while the pause is being written.
    const [only = null, ...others] = projectIds;
    const projectIdNow = others.length > 0 ? null : only;
    const now = new Date();
    pauses = [...pauses, { id: '', projectId: projectIdNow, stage: by.stage, reply: '', since: now, nextProbeAt: now }];
    freshUntil = Date.now() + FRESH_MS;
    const isTrial = by.stage === 'data' || by.stage === 'message' || !provider.probe;
    const first = isTrial ? TRIAL_SECONDS : FIRST_PROBE_SECONDS;
    const paused = await pauseRoute(db, {
      route,
      projectIds,
      refusal: refusalFingerprint(by),
      stage: by.stage,
      reply: replyOf(by),
      senderHost: email.senderHost,
      emailId: email.id || null,
      nextProbeAt: new Date(Date.now() + first * 1_000),
    });
    freshUntil = 0;
    await refresh();
    if (!paused) return;
    const { projectId, stage } = paused;
    log.warn(
      { ...about, projectId, stage, status: replyCodesOf(by) },
      'the route is paused: the mail server refuses email because of us, not of its recipients; email waits',
    );
  }

  async function probeOne({ id, stage, senderHost, to }: DueProbe): Promise<void> {
    const fallback = probeEnvelope(senderHost);
    const isLogin = stage === 'auth' && to === null;
    const envelope = isLogin ? null : { from: fallback.from, to: to ?? fallback.to };
    const result = (await provider.probe?.(envelope, stopping.signal)) ?? { outcome: 'accepted' as const };
    if (result.outcome === 'unsent') return;
    if (result.outcome === 'refused' && judgeRefusal(result).about === 'us') {
      await noteRouteReply(db, { id, reply: replyOf(result) });
      return;
    }
    if (!(await endRoutePause(db, id))) return;
    freshUntil = 0;
    log.info({ ...about }, 'the route takes email again: the pause is over');
  }

  async function probeDue(): Promise<void> {
    if (pauses.length === 0) await refresh();
    if (pauses.length === 0) return;
    const due = await takeDueProbes(db, { route, firstSeconds: FIRST_PROBE_SECONDS, mostSeconds: MOST_PROBE_SECONDS });
    for (const one of due) await probeOne(one);
  }

  /** Probes the provider once, so that an operator learns of a wrong login before the first email. */
  async function probeAtStart(): Promise<void> {
    await endPausesOfOtherRoutes(db, route);
    const senderHost = deps.returnPathDomain ?? (await findAnySenderHost(db));
    const envelope = senderHost === undefined ? null : probeEnvelope(senderHost);
    const result = await provider.probe?.(envelope, stopping.signal);
    if (result?.outcome !== 'refused' || stopping.signal.aborted) return;
    if (judgeRefusal(result).about !== 'us' || result.code < 500) return;
    log.warn(
      { ...about, stage: result.stage, status: replyCodesOf(result) },
      'the mail server does not take our email: it refused a probe',
    );
    const isLogin = result.stage === 'auth' && !refusals.isProven && pauses.length === 0;
    if (isLogin) await pause({ id: '', to: '', senderHost: senderHost ?? '' }, result, []);
  }
  track(probeAtStart(), 'the mail server was not probed at the start');

  let isProbing = false;
  const timer = setInterval(() => {
    if (isProbing) return;
    isProbing = true;
    const work = probeDue().finally(() => {
      isProbing = false;
    });
    track(work, 'paused routes were not probed');
  }, deps.tickMs ?? TICK_MS);
  timer.unref();

  return {
    async readPauseEnd(projectId) {
      await refresh();
      const found = pauseOf(projectId);
      if (!found) return undefined;
      const isNew = Date.now() - found.since.getTime() < LATER_MS;
      return new Date(Date.now() + (isNew ? LOOK_MS : LOOK_LATER_MS));
    },
    isPaused: (projectId) => pauseOf(projectId) !== undefined,
    onResult(email, result) {
      if (result.outcome === 'accepted') {
        refusals.accepted(email.projectId);
        return;
      }
      if (result.outcome !== 'refused' || pauseOf(email.projectId)) return;
      const { projectId, to } = email;
      const projectIds = refusals.refused({ refusal: judgeRefusal(result), by: result, projectId, to });
      if (projectIds) track(pause(email, result, projectIds), 'a route was not paused');
    },
    shouldWait: (refusal, attempts) => refusal.about === 'us' && refusals.shouldWait(attempts),
    async close() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(underWay);
    },
  };
}
