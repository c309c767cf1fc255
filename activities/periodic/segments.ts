import { countDueProjects, listDueProjects, listDueSegments } from '../../db/segments/due.ts';
import { computeSegment } from '../../engine/segments/compute.ts';
import type { ActivityDeps } from '../deps.ts';
import type { PartRun, PeriodicParts } from './parts.ts';

/**
 * The cursor that an attempt saves for the next attempt. The cursor does not list finished segments, because the column
 * `computed_at` shows them.
 */
interface SegmentProgress {
  /** The ids of segments that failed. The round does not compute these segments again. */
  failed: string[];
  /**
   * The id of the segment that was being computed when the attempt ended. The next attempt computes this segment last,
   * because it may have caused the crash or the timeout.
   */
  underWay: string | null;
}

/**
 * Periodic work that computes tracked segments. Each project is a part, and its segments are computed one after the
 * other.
 */
export function createSegmentParts({ db, outbox }: Pick<ActivityDeps, 'db' | 'outbox'>): PeriodicParts {
  return {
    list: (p) => listDueProjects(db, p),
    count: (since) => countDueProjects(db, since),
    run: computeProject,
  };

  async function computeProject(projectId: string, run: PartRun): Promise<string | null> {
    const before: SegmentProgress = run.cursor ? JSON.parse(run.cursor) : { failed: [], underWay: null };
    const failed = [...before.failed];
    const due = (await listDueSegments(db, { projectId, since: run.since })).filter((id) => !failed.includes(id));
    const inOrder = [...due.filter((id) => id !== before.underWay), ...due.filter((id) => id === before.underWay)];
    for (const segmentId of inOrder) {
      const cursor = (underWay: string | null) => JSON.stringify({ failed, underWay } satisfies SegmentProgress);
      if (!run.mayContinue(cursor(segmentId))) return cursor(before.underWay);
      try {
        await computeSegment(db, {
          projectId,
          segmentId,
          onPage: (queued) => {
            outbox.wake(queued);
            run.mayContinue(cursor(segmentId));
          },
        });
      } catch (error) {
        // If the activity is cancelled, this call throws, so that the cancellation does not count as a failure of the
        // segment.
        run.mayContinue();
        failed.push(segmentId);
        await run.noteFailure(`segment ${segmentId}`, error);
      }
    }
    return null;
  }
}
