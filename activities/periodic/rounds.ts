import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Db } from '../../db/connection.ts';
import { endRound, recordPeriodicError, startRound } from '../../db/operator/periodic-work.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type {
  PartInput,
  PartResult,
  Round,
  RoundEnd,
  RoundPage,
  RoundPageRequest,
} from '../../rules/periodic-round.ts';
import { PERIODIC_WORK, type PeriodicKind } from '../../rules/periodic-work.ts';
import type { ActivityDeps } from '../deps.ts';
import { createDomainParts } from './domains.ts';
import type { PartRun, PeriodicParts } from './parts.ts';
import { createPruningParts } from './pruning.ts';
import { createRecoveryParts } from './recovery.ts';
import { createSegmentParts } from './segments.ts';
import { createStatisticsParts } from './statistics.ts';

export type PeriodicActivities = ReturnType<typeof createRoundActivities>;

/**
 * The maximum number of parts of one workflow run. A part adds up to 6 events to the run's history, which must stay
 * under 10,000 events.
 */
const PAGE_PARTS = 1_000;
/** After this time, an activity starts no more work and returns the cursor at which to continue. */
const SLICE_MS = 3 * 60_000;
/**
 * The interval between two heartbeats: less than half of the time after which Temporal considers an activity without
 * heartbeats lost.
 */
const HEARTBEAT_MS = 10_000;
const LANES_MAX = 200;
const FAILURES_NAMED = 10;

/**
 * The activities of a round of periodic work: the first lists the parts, the second runs one part, and the third
 * records how the round ended.
 */
export function createRoundActivities(deps: ActivityDeps) {
  const { db, log } = deps;
  const partsOf: Record<PeriodicKind, PeriodicParts> = {
    recovery: createRecoveryParts(deps),
    pruning: createPruningParts(deps),
    statistics: createStatisticsParts(deps),
    segments: createSegmentParts(deps),
    domains: createDomainParts(deps),
  };
  /**
   * The parts that are running in this process. A part may still be in this set after Temporal has timed out its
   * activity, because its statement hangs in Postgres.
   */
  const running = new Set<string>();

  return {
    /** Lists the next parts of a round. The first call starts the round. */
    async listPeriodicParts({ kind, round: started }: RoundPageRequest): Promise<RoundPage> {
      const parts = partsOf[kind];
      const round = started ?? (await beginRound(db, kind, parts));
      const { names, next } = await listPage(parts, round);
      const lanes = Math.min(LANES_MAX, PERIODIC_WORK[kind].lanesPerWorker * (await countWorkers(deps)));
      return {
        round: { ...round, ...next },
        parts: names.filter((name) => !round.last.includes(name)),
        isLast: !next,
        lanes,
      };
    },

    /**
     * Runs one part until it is done or the time of the activity is over. Safe to run twice: the next attempt continues
     * at the cursor in the last heartbeat.
     */
    async runPeriodicPart(input: PartInput): Promise<PartResult> {
      const key = `${input.kind} ${input.part}`;
      if (running.has(key)) throw createFailure(input, 'UNDER_WAY', 'an earlier attempt still runs in this process');
      running.add(key);
      const work = runPart(deps, partsOf[input.kind], input).finally(() => running.delete(key));
      work.catch(() => {});
      // If the activity is cancelled while a statement hangs in Postgres, this frees the activity's slot at once.
      // Postgres ends the statement later.
      return await Promise.race([work, Context.current().cancelled]);
    },

    /** Records how a round ended, and logs its failures. */
    async endPeriodicRound({ kind, since, failing, unfinished, resumeAfter, late }: RoundEnd): Promise<void> {
      if (late.length > 0) {
        await recordPeriodicError(db, {
          kind,
          error: `Not finished within the round: ${late.slice(0, FAILURES_NAMED).join(', ')}`,
        });
        log.warn(
          { kind, parts: late.slice(0, FAILURES_NAMED), count: late.length },
          'periodic work was not finished within its round',
        );
      }
      await endRound(db, { kind, since: new Date(since), unfinished, failing: [...failing, ...late], resumeAfter });
    },
  };
}

async function beginRound(db: Db, kind: PeriodicKind, parts: PeriodicParts): Promise<Round> {
  const { since, failing, resumeAfter } = await startRound(db, kind);
  return {
    since: since.toISOString(),
    start: resumeAfter,
    after: resumeAfter,
    wrapped: false,
    total: await parts.count(since),
    done: 0,
    failed: [],
    failing: [],
    late: [],
    last: failing,
  };
}

/** Counts the workers that poll for periodic work. If Temporal does not respond, returns 1. */
async function countWorkers({ lifecycle, log }: Pick<ActivityDeps, 'lifecycle' | 'log'>): Promise<number> {
  try {
    const queues = await lifecycle.readQueueStats();
    return Math.max(1, queues.find(({ queue }) => queue === 'periodic')?.pollers ?? 1);
  } catch (error) {
    log.warn({ reason: describeFailure(error) }, 'Temporal does not say how many workers there are');
    return 1;
  }
}

/**
 * Lists the next page of parts. A round starts after the part `start` and runs to the last part. The round then
 * continues with the first part, and ends at the part `start`.
 */
async function listPage(
  parts: PeriodicParts,
  { since: startedAt, start, after, wrapped }: Round,
): Promise<{ names: string[]; next: { after: string | null; wrapped: boolean } | null }> {
  const since = new Date(startedAt);
  const names = await parts.list({ since, after, upTo: wrapped ? start : null, limit: PAGE_PARTS });
  let isWrapped = wrapped;
  if (names.length < PAGE_PARTS && !wrapped && start !== null) {
    isWrapped = true;
    names.push(...(await parts.list({ since, after: null, upTo: start, limit: PAGE_PARTS - names.length })));
  }
  const next = names.length === PAGE_PARTS ? { after: names.at(-1) ?? null, wrapped: isWrapped } : null;
  return { names, next };
}

type RunDeps = Pick<ActivityDeps, 'db' | 'log'>;

/** Runs one part with heartbeats. If the part fails, records and logs the failure for the operator. */
async function runPart(deps: RunDeps, parts: PeriodicParts, input: PartInput): Promise<PartResult> {
  const { part } = input;
  const context = Context.current();
  const until = Math.min(Date.now() + SLICE_MS, input.deadlineMs);
  let cursor = (context.info.heartbeatDetails as string | undefined) ?? input.cursor;
  const failures: string[] = [];
  const save = (now: string) => {
    cursor = now;
    sendHeartbeat();
  };
  const sendHeartbeat = () => {
    if (!context.cancellationSignal.aborted) context.heartbeat(cursor ?? undefined);
  };
  const run: PartRun = {
    since: new Date(input.since),
    cursor,
    messagesOfHours: input.messagesOfHours,
    save,
    mayContinue: (now) => {
      if (now !== undefined) save(now);
      context.cancellationSignal.throwIfAborted();
      return Date.now() < until;
    },
    noteFailure: async (subject, error) => {
      if (failures.length >= FAILURES_NAMED) return;
      failures.push(subject);
      await recordFailure(deps, input, { what: `${part}: ${subject}`, error });
    },
  };
  const timer = setInterval(sendHeartbeat, HEARTBEAT_MS);
  try {
    return { cursor: await parts.run(part, run), failures };
  } catch (error) {
    context.cancellationSignal.throwIfAborted();
    await recordFailure(deps, input, { what: part, error }).catch(() => {});
    throw createFailure(input, getErrorCode(error), 'failed; the log and the operator’s page say why');
  } finally {
    clearInterval(timer);
  }
}

async function recordFailure(
  { db, log }: RunDeps,
  { kind, part }: PartInput,
  { what: subject, error }: { what: string; error: unknown },
): Promise<void> {
  log.warn({ kind, part, what: subject, reason: describeFailure(error) }, 'a part of periodic work failed');
  await recordPeriodicError(db, { kind, error: `${subject}: ${getErrorMessage(error)}` });
}

/**
 * Creates a failure for Temporal. The failure contains no error text of Postgres, because that text may quote personal
 * data.
 */
function createFailure({ kind, part }: PartInput, type: string, text: string): ApplicationFailure {
  return ApplicationFailure.retryable(`${kind} of ${part}: ${text}`, type);
}

function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  return 'code' in error ? String(error.code) : error.name;
}

function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
