import { Context } from '@temporalio/activity';
import type { Db } from '../db/connection.ts';
import { computeSegment } from '../db/segments/compute.ts';
import { beginComputeRound, listTrackedSegments, type SegmentRef } from '../db/segments/segments.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { groupBy } from '../rules/filters/group-by.ts';
import type { ActivityDeps } from './deps.ts';

/** Segments at a time, each of another project: a large one holds up its own project's others, and nobody else's. */
const LANES = 2;
/** Well under the 2 minutes after which Temporal takes a silent round for lost. */
const HEARTBEAT_MS = 10_000;
/**
 * No segment is begun after this, of the 30 minutes that Temporal allows: what is left comes first in the next round.
 */
const ROUND_MS = 20 * 60_000;

/** What an attempt leaves to the next. */
interface Progress {
  /** Computed since then: done in this round. */
  since: string;
  /** Were being computed: they come last, for one of them may be why the attempt ended. */
  underWay: string[];
}

/** A round over the tracked segments of all projects, in turns. One that fails does not keep the others from it. */
export async function recomputeSegments({
  db,
  lifecycle,
  log,
}: Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>): Promise<number> {
  const context = Context.current();
  const before = context.info.heartbeatDetails as Progress | undefined;
  const since = before ? new Date(before.since) : await beginComputeRound(db);
  const turns = createTurns(await listDue(db, since, before?.underWay ?? []));
  const until = Date.now() + ROUND_MS;
  const tell = () => context.heartbeat({ since: since.toISOString(), underWay: turns.underWay() } satisfies Progress);
  let count = 0;

  async function compute(ref: SegmentRef): Promise<void> {
    const about = { projectId: ref.projectId, segmentId: ref.id };
    try {
      await computeSegment(db, {
        ...about,
        onPage: (outbox) => {
          lifecycle.dispatch(outbox);
          context.cancellationSignal.throwIfAborted();
        },
      });
    } catch (error) {
      context.cancellationSignal.throwIfAborted();
      log.warn({ ...about, reason: describeFailure(error) }, 'segment not computed');
    }
    count += 1;
  }

  async function runLane(): Promise<void> {
    while (Date.now() < until) {
      context.cancellationSignal.throwIfAborted();
      const ref = turns.take();
      if (!ref) return;
      await compute(ref).finally(() => turns.giveBack(ref));
    }
  }

  tell();
  const timer = setInterval(tell, HEARTBEAT_MS);
  try {
    // All of them, also where one ends early: nothing of the attempt goes on behind its end.
    const lanes = await Promise.allSettled(Array.from({ length: LANES }, runLane));
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
    return count;
  } finally {
    clearInterval(timer);
  }
}

async function listDue(db: Db, since: Date, last: string[]): Promise<SegmentRef[]> {
  const due = await listTrackedSegments(db, since);
  return [...due.filter(({ id }) => !last.includes(id)), ...due.filter(({ id }) => last.includes(id))];
}

/** Segments by turns: one of each project, and of a project one at a time. */
function createTurns(due: SegmentRef[]) {
  const waiting = groupBy(due, ({ projectId }) => projectId);
  const taken = new Map<string, SegmentRef>();
  return {
    underWay: () => [...taken.values()].map(({ id }) => id),
    take(): SegmentRef | undefined {
      for (const [projectId, refs] of waiting) {
        if (taken.has(projectId)) continue;
        waiting.delete(projectId);
        const ref = refs.shift();
        if (!ref) continue;
        waiting.set(projectId, refs);
        taken.set(projectId, ref);
        return ref;
      }
      return undefined;
    },
    giveBack({ projectId }: SegmentRef): void {
      taken.delete(projectId);
    },
  };
}
