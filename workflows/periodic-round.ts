import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { PeriodicActivities } from '../activities/periodic/rounds.ts';
import type { PartInput, PartResult, Round, RoundPage, RoundRequest } from '../rules/periodic-round.ts';
import { PERIODIC_WORK, type PeriodicKind } from '../rules/periodic-work.ts';
import { activitiesOn } from './activities-on.ts';
import { showDetails } from './current-details.ts';

/**
 * The activity that runs one part. The activity runs for at most 3 minutes, and then returns the cursor at which the
 * part continues.
 */
const { runPeriodicPart } = activitiesOn<PeriodicActivities>('periodic', {
  allowEagerDispatch: false,
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  // A page or round that ends does not wait for a part whose statement hangs in Postgres.
  cancellationType: 'TRY_CANCEL',
  retry: { initialInterval: '2 seconds', maximumAttempts: 3 },
});
const { listPeriodicParts, endPeriodicRound } = activitiesOn<PeriodicActivities>('periodic', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '2 seconds', maximumInterval: '30 seconds' },
});

/** A round ends after this share of its period, so that the schedule can start the next round in time. */
const PERIOD_SHARE = 0.9;
/**
 * When the last part of a page has started, the parts that still run have this long to end. If another page follows,
 * parts that need more time are cancelled, and run again on the last page of the round.
 */
const DRAIN_MS = 10_000;
/**
 * The maximum number of cancelled parts that a page passes on to the next page, and that a round records for the next
 * round.
 */
const LATE_MAX = 500;
/** The maximum number of failed parts that a round records for the next round. */
const FAILED_MAX = 100;
/** The maximum number of failed parts that the result and the Temporal UI show. */
const SHOWN_MAX = 20;

interface Part {
  name: string;
  cursor: string | null;
}

/**
 * The outcome of a round. `done` and `unfinished` count parts. `failed` names at most `SHOWN_MAX` parts or items that
 * failed or were not finished.
 */
export interface RoundResult {
  done: number;
  unfinished: number;
  failed: string[];
}

/**
 * Runs a round of periodic work. Each run of the workflow handles one page of parts. Each part runs as one activity, or
 * as several activities that continue at a cursor. Several parts run at the same time, in lanes. If a part fails, the
 * round records the failure, and the other parts continue. A part that is cancelled at the end of its page runs again
 * on the last page.
 */
export async function runRound(
  kind: PeriodicKind,
  request: RoundRequest,
  continueWith: (request: RoundRequest) => Promise<never>,
): Promise<RoundResult> {
  const periodMs = PERIODIC_WORK[kind].everyMinutes * 60_000;
  const deadlineMs = request.deadlineMs ?? Date.now() + PERIOD_SHARE * periodMs;
  const page = await listPeriodicParts({ kind, round: request.round });
  const { round } = page;
  const toPart = (name: string): Part => ({ name, cursor: null });
  const queue = page.parts.map(toPart);
  if (page.isLast) queue.push(...[...round.last, ...round.late.splice(0)].map(toPart));
  const lanes = new Lanes({ ...request, kind, round, deadlineMs, queue });
  await lanes.run(page);
  if (!page.isLast && Date.now() < deadlineMs) {
    return continueWith({ ...request, deadlineMs, round: { ...round, late: round.late.slice(0, LATE_MAX) } });
  }
  return endRound(kind, round, { lastStarted: lanes.lastStarted, allStarted: page.isLast && queue.length === 0 });
}

async function endRound(
  kind: PeriodicKind,
  round: Round,
  { lastStarted, allStarted }: { lastStarted: string | null; allStarted: boolean },
): Promise<RoundResult> {
  const { since, done, total, failed, failing, late, start } = round;
  const unfinished = Math.max(late.length, total - done - failing.length);
  await endPeriodicRound({
    kind,
    since,
    failing,
    late: late.slice(0, LATE_MAX),
    unfinished,
    resumeAfter: allStarted ? null : (lastStarted ?? start),
  });
  return { done, unfinished, failed: [...failed, ...late].slice(0, SHOWN_MAX) };
}

/** The lanes in which the parts of a page run. Each lane takes the next part when its previous part has ended. */
class Lanes {
  private readonly p: RoundRequest & { kind: PeriodicKind; round: Round; deadlineMs: number; queue: Part[] };
  private readonly running = new Map<string, Part>();
  /**
   * The part of this page that started last. Parts that were moved to the last page from earlier pages do not count.
   */
  lastStarted: string | null = null;

  constructor(p: Lanes['p']) {
    this.p = p;
  }

  /**
   * Runs the parts of a page. Returns when all parts have ended or the deadline is reached. If more pages follow,
   * returns at the latest `DRAIN_MS` after the last part has started.
   */
  async run({ parts, isLast, lanes }: RoundPage): Promise<void> {
    const inPage = new Set(parts);
    let isOver = false;
    const scope = new CancellationScope();
    const work = scope
      .run(() => Promise.all(Array.from({ length: lanes }, () => this.runLane(inPage))))
      .then(() => {
        isOver = true;
      });
    if (!isLast) {
      await condition(() => isOver || this.p.queue.length === 0, this.remainingMs());
      await condition(() => isOver, Math.min(DRAIN_MS, this.remainingMs()));
    } else await condition(() => isOver, this.remainingMs());
    if (!isOver) scope.cancel();
    await work;
  }

  private remainingMs(): number {
    return Math.max(1, this.p.deadlineMs - Date.now());
  }

  private async runLane(inPage: Set<string>): Promise<void> {
    const { queue, round } = this.p;
    while (Date.now() < this.p.deadlineMs && !CancellationScope.current().consideredCancelled) {
      const part = queue.shift();
      if (!part) return;
      if (part.cursor === null && inPage.has(part.name)) this.lastStarted = part.name;
      this.running.set(part.name, part);
      try {
        const { cursor, failures } = await this.runPart(part);
        for (const failure of failures) this.addFailure(`${part.name}: ${failure}`);
        if (cursor !== null) queue.push({ name: part.name, cursor });
        else round.done += 1;
      } catch (error) {
        if (isCancellation(error)) round.late.push(part.name);
        else {
          this.addFailure(part.name);
          if (round.failing.length < FAILED_MAX) round.failing.push(part.name);
        }
      } finally {
        this.running.delete(part.name);
        this.showProgress();
      }
    }
  }

  private runPart({ name, cursor }: Part): Promise<PartResult> {
    const { kind, round, deadlineMs, messagesOfHours } = this.p;
    const input: PartInput = { kind, part: name, since: round.since, cursor, deadlineMs, messagesOfHours };
    return runPeriodicPart.executeWithOptions({ summary: `${kind} of ${name}` }, [input]);
  }

  private addFailure(what: string): void {
    const { failed } = this.p.round;
    if (failed.length < FAILED_MAX) failed.push(what);
  }

  /** Shows in the Temporal UI how far the round is and which parts failed. */
  private showProgress(): void {
    const { done, total, failed } = this.p.round;
    const lines = failed.slice(0, SHOWN_MAX).map((name) => `- failed: ${name}`);
    showDetails([`${done} of ${total} parts done`, ...lines].join('\n'));
  }
}
