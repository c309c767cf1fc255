import { countDueProjects, listDueProjects, listDueSegments } from '../../db/segments/due.ts';
import { computeSegment } from '../../engine/segments/compute.ts';
import type { ActivityDeps } from '../deps.ts';
import type { PartRun, PeriodicParts } from './parts.ts';

/** The cursor that an attempt passes on to the next attempt. The column `computed_at` tells which segments are done. */
interface SegmentProgress {
  /** Segments that failed. They are not retried in this round. */
  failed: string[];
  /**
   * The segment that was being computed when the attempt ended. It is computed last, because it may have caused the
   * end.
   */
  underWay: string | null;
}

/** Computes tracked segments. Each project is a part, and its segments are computed one after the other. */
export function segmentParts({ db, outbox }: Pick<ActivityDeps, 'db' | 'outbox'>): PeriodicParts {
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
        // Throws when the activity is cancelled, which is not a failure of the segment.
        run.mayContinue();
        failed.push(segmentId);
        await run.noteFailure(`segment ${segmentId}`, error);
      }
    }
    return null;
  }
}
