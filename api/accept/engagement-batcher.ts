import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Db } from '../../db/connection.ts';
import { type Email, listEmailsOfAnyProject } from '../../db/emails/emails.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { isConnectionFailure, UnknownCommit } from '../../db/postgres-errors.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findCommitOutcome } from '../../db/unknown-commit.ts';
import { type Engagement, recordEngagements } from '../../engine/feedback/engagements.ts';
import { type FetchKind, isTooEarly } from '../../rules/emails/prefetchers.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import { groupBy } from '../../rules/filters/group-by.ts';

/**
 * The time that a hit waits for other hits, so that they share one write. Hits that arrive during a write wait for the
 * next one. If the process is killed, normally only hits of the last 100 ms are lost.
 */
const GATHER_MS = 20;
const BATCH_MAX = 2_000;
/** Maximum number of hits in memory while the database is unreachable: about 40 MB. Further hits are not counted. */
const WAITING_MAX = 100_000;
const RETRY_MS = 1_000;
/**
 * Maximum number of attempts to write a hit: one per second for ten minutes. Outages of the database are usually
 * shorter. After the last attempt, the hit is dropped, because it can probably never be written.
 */
const TRIES_MAX = 600;
/**
 * The maximum number of attempts, one per second, that a hit waits for its email to be recorded as SENT. The worker
 * usually records SENT within milliseconds. If SENT is still missing, the worker has probably crashed and will send the
 * email again, so the hit is written although the email is not SENT.
 */
const SENDER_TRIES_MAX = 10;
/**
 * Time limit of `close`. It is short, because the process must stop soon. `npm start` kills the API after 15 s, of
 * which running requests may take 10 s.
 */
const CLOSE_MS = 5_000;

/** One fetch of a pixel or a link. */
export interface TrackingHit {
  emailId: string;
  kind: FetchKind;
  at: Date;
  machine: boolean;
  /** Target of a click. */
  link?: string;
  /** Index of the clicked link in the list of links of the email's content. */
  linkIndex?: number;
}

interface WaitingHit extends TrackingHit {
  tries: number;
  /** The transaction that may have written this hit. */
  unknown?: UnknownCommit;
}

interface BatcherDeps {
  db: Db;
  outbox: OutboxWaker;
  log: Pick<Logger, 'warn' | 'error'>;
  /**
   * If true, a hit shortly after the email was sent may count as the hit of a human. If false, it counts as the hit of
   * a bot (`isTooEarly`).
   */
  lenient: boolean;
}

/**
 * Writes opens and clicks in batches, so that their requests do not wait for the database. While a batch is written,
 * further hits wait for the next batch.
 */
export class EngagementBatcher {
  private readonly deps: BatcherDeps;
  private waiting: WaitingHit[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** Hits to retry, separate from `waiting`, because new hits must not wait for the next retry. */
  private retries: WaitingHit[] = [];
  private retryTimer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private closing = false;

  constructor(deps: BatcherDeps) {
    this.deps = deps;
  }

  /**
   * Adds a hit, which is normally written within 100 ms, together with other hits. Drops the hit if `WAITING_MAX` hits
   * are in memory.
   */
  add(hit: TrackingHit): void {
    if (this.waiting.length + this.retries.length >= WAITING_MAX) return;
    this.waiting.push({ ...hit, tries: 0 });
    this.schedule();
  }

  /** Writes the waiting hits, for at most `CLOSE_MS`. Call it after the last `add`. */
  async close(): Promise<void> {
    this.closing = true;
    clearTimeout(this.timer);
    await this.flushing;
    const until = Date.now() + CLOSE_MS;
    this.takeRetries();
    while (this.waiting.length > 0 && Date.now() < until) {
      await this.flush();
      if (this.retries.length > 0) await sleep(RETRY_MS / 4);
      this.takeRetries();
    }
    const hits = this.waiting.length;
    if (hits > 0) this.deps.log.error({ hits }, 'opens and clicks are lost: the database is unreachable');
  }

  private schedule(): void {
    if (this.waiting.length === 0 || this.timer || this.flushing || this.closing) return;
    this.timer = setTimeout(() => void this.flush(), GATHER_MS);
  }

  private async flush(): Promise<void> {
    this.timer = undefined;
    const batch = this.waiting.slice(0, BATCH_MAX);
    this.waiting = this.waiting.slice(BATCH_MAX);
    this.flushing = this.write(batch).then((left) => {
      this.flushing = undefined;
      this.retries.push(...left);
      if (this.retries.length > 0 && !this.closing) this.retryTimer ??= setTimeout(() => this.takeRetries(), RETRY_MS);
      this.schedule();
    });
    await this.flushing;
  }

  private takeRetries(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    this.waiting = [...this.retries, ...this.waiting];
    this.retries = [];
    this.schedule();
  }

  /** Writes a batch of hits, and returns the hits to retry. */
  private async write(written: WaitingHit[]): Promise<WaitingHit[]> {
    const { db, log } = this.deps;
    try {
      const { batch, doubtful } = await checkUnknownCommits(db, written);
      const emails = new Map((await listEmailsOfAnyProject(db, listEmailIds(batch))).map((email) => [email.id, email]));
      const hitsOfEmails = batch.filter(({ emailId }) => emails.has(emailId));
      const early = this.closing ? [] : hitsOfEmails.filter((hit) => hasToWaitForSent(emails.get(hit.emailId), hit));
      const ready = hitsOfEmails.filter((hit) => !early.includes(hit));
      const groups = groupBy(ready, (hit) => emails.get(hit.emailId)?.projectId ?? '');
      const failed: WaitingHit[] = [];
      for (const [projectId, hits] of groups)
        failed.push(...(await writeHitsOfProject(this.deps, { projectId, hits, emails })));
      return this.countTry([...early, ...failed, ...doubtful]);
    } catch (error) {
      log.warn({ reason: describeFailure(error), hits: written.length }, 'opens and clicks wait for the database');
      return this.countTry(written);
    }
  }

  /** Counts an attempt and returns the hits that have attempts left. */
  private countTry(hits: WaitingHit[]): WaitingHit[] {
    for (const hit of hits) hit.tries += 1;
    const remaining = hits.filter((hit) => hit.tries < TRIES_MAX);
    const droppedCount = hits.length - remaining.length;
    if (droppedCount > 0) this.deps.log.error({ hits: droppedCount }, 'opens and clicks were given up');
    return remaining;
  }
}

/**
 * Checks for each hit whether an earlier transaction, whose commit got no response, has written the hit. `batch` has
 * the hits that are not written. `doubtful` has the hits for which the outcome of the transaction is not known yet.
 */
async function checkUnknownCommits(
  db: Db,
  hits: WaitingHit[],
): Promise<{ batch: WaitingHit[]; doubtful: WaitingHit[] }> {
  const settled = { batch: hits.filter(({ unknown }) => !unknown), doubtful: [] as WaitingHit[] };
  for (const [unknown, hitsOfOne] of groupBy(hits, (hit) => hit.unknown)) {
    if (!unknown) continue;
    const outcome = await findCommitOutcome(db, unknown).catch((error: unknown) => {
      if (isConnectionFailure(error)) throw error;
      return undefined;
    });
    if (outcome === 'aborted') settled.batch.push(...hitsOfOne.map(({ unknown: _, ...hit }) => hit));
    else if (outcome === undefined) settled.doubtful.push(...hitsOfOne);
  }
  return settled;
}

/** Writes the hits of one project, and returns the hits to retry. */
async function writeHitsOfProject(
  deps: BatcherDeps,
  { projectId, hits, emails }: { projectId: string; hits: WaitingHit[]; emails: Map<string, Email> },
): Promise<WaitingHit[]> {
  const { db, outbox, log, lenient } = deps;
  const engagements = sumEngagements(hits, emails, lenient);
  try {
    outbox.wake(await inTransaction(db, (trx) => recordEngagements(trx, { projectId, engagements })));
    return [];
  } catch (error) {
    log.warn({ reason: describeFailure(error), projectId, hits: hits.length }, 'opens and clicks could not be written');
    if (error instanceof UnknownCommit) return hits.map((hit) => ({ ...hit, unknown: error }));
    const ids = listEmailIds(hits);
    if (ids.length === 1 || isConnectionFailure(error)) return hits;
    // A hit that cannot be written must not block the other hits, so each hit is written separately.
    const failed: WaitingHit[] = [];
    for (const id of ids) {
      const alone = hits.filter(({ emailId }) => emailId === id);
      failed.push(...(await writeHitsOfProject(deps, { projectId, hits: alone, emails })));
    }
    return failed;
  }
}

/** Sums up the hits by email. */
function sumEngagements(hits: TrackingHit[], emails: Map<string, Email>, lenient: boolean): Engagement[] {
  return [...groupBy(hits, (hit) => hit.emailId)].flatMap(([emailId, hitsOfEmail]) => {
    const email = emails.get(emailId);
    if (!email) return [];
    const isBot = (hit: TrackingHit) =>
      hit.machine || (!lenient && isTooEarly(hit.kind, { ...hit, sentAt: email.sentAt }));
    const opens = hitsOfEmail.filter((hit) => hit.kind === 'open');
    const clicks = hitsOfEmail.filter((hit) => hit.kind === 'click');
    const [humanOpens, humanClicks] = [opens, clicks].map((all) => all.filter((hit) => !isBot(hit)));
    const firstOpen = humanOpens?.[0];
    const firstClick = humanClicks?.[0];
    return [
      {
        email,
        opens: humanOpens?.length ?? 0,
        openedAt: firstOpen?.at ?? null,
        clicks: humanClicks?.length ?? 0,
        clickedAt: firstClick?.at ?? null,
        link: firstClick?.link ?? null,
        machineOpens: opens.length - (humanOpens?.length ?? 0),
        machineClicks: clicks.length - (humanClicks?.length ?? 0),
        links: sumLinkClicks(clicks, isBot),
      },
    ];
  });
}

function sumLinkClicks(clicks: TrackingHit[], isBot: (hit: TrackingHit) => boolean): NonNullable<Engagement['links']> {
  return [...groupBy(clicks, (hit) => hit.linkIndex)].flatMap(([index, hits]) => {
    const machineClicks = hits.filter(isBot).length;
    return index === undefined ? [] : [{ index, clicks: hits.length - machineClicks, machineClicks }];
  });
}

/**
 * Tells whether a hit has to wait, for at most `SENDER_TRIES_MAX` attempts, because the worker has not yet recorded
 * that it sent the email. SENT and `email.sent` should be recorded before opens and clicks.
 */
function hasToWaitForSent(email: Email | undefined, hit: WaitingHit): boolean {
  const isUnsent = email?.status === 'PENDING' || email?.status === 'SENDING' || email?.status === 'HELD';
  return isUnsent && hit.tries < SENDER_TRIES_MAX;
}

function listEmailIds(hits: TrackingHit[]): string[] {
  return [...new Set(hits.map((hit) => hit.emailId))];
}
