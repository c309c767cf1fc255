import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Db } from '../../db/connection.ts';
import { insertRequests, type NewLoggedRequest } from '../../db/requests/request-log.ts';
import type { AffectedRows } from '../../rules/affected-rows.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { formatActor } from './actor.ts';
import type { RequestContext } from './env.ts';

/** Interval between two writes. A killed process loses the entries of this interval and of a running write. */
const INTERVAL_MS = 250;
/**
 * Maximum number of entries of a project in one write, so that a busy project does not displace entries of other
 * projects or overload Postgres.
 */
const PROJECT_MAX = 100;
/** Maximum number of entries of all projects in one write. This number of entries needs about 300 KB of memory. */
const WAITING_MAX = 1_000;
/** Maximum number of ids of each kind in an entry. */
const IDS_MAX = 100;
/** Time limit of `close`. It is short, because the process must stop soon: `npm start` kills the API after 15 s. */
const CLOSE_MS = 3_000;

/** Writes log entries of requests in the background, without delaying the requests. */
export interface RequestLog {
  add(request: NewLoggedRequest): void;
  /** Writes the waiting entries, for at most `CLOSE_MS`. Entries that are added later are skipped. */
  close(): Promise<void>;
}

/**
 * Creates the request log. It writes its entries at most four times a second, each time in one SQL statement. Entries
 * beyond the limits and the entries of a failed write are skipped, because a log must not delay requests or use up
 * memory.
 */
export function createRequestLog({ db, log }: { db: Db; log: Pick<Logger, 'warn'> }): RequestLog {
  let waitingEntries: NewLoggedRequest[] = [];
  let countByProject = new Map<string, number>();
  let skippedCount = 0;
  let timer: NodeJS.Timeout | undefined;
  /** The running write. Only one write runs at a time, so that a slow Postgres gets no further writes. */
  let writing: Promise<void> | undefined;
  let closed = false;

  function schedule(): void {
    if (timer || writing || closed || waitingEntries.length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      writing = write().finally(() => {
        writing = undefined;
        schedule();
      });
    }, INTERVAL_MS);
  }

  async function write(): Promise<void> {
    const [requests, skipped] = [waitingEntries, skippedCount];
    [waitingEntries, countByProject, skippedCount] = [[], new Map(), 0];
    if (skipped > 0) log.warn({ requests: skipped }, 'requests were not logged: too many at the same time');
    try {
      await insertRequests(db, requests);
    } catch (error) {
      log.warn({ reason: describeFailure(error), requests: requests.length }, 'requests could not be logged');
    }
  }

  return {
    add(request) {
      const count = countByProject.get(request.projectId) ?? 0;
      if (closed || count >= PROJECT_MAX || waitingEntries.length >= WAITING_MAX) {
        skippedCount += 1;
        return;
      }
      countByProject.set(request.projectId, count + 1);
      waitingEntries.push(request);
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      const rest = (writing ?? Promise.resolve()).then(write);
      await Promise.race([rest, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/**
 * Returns the log entry of a finished request. Undefined for requests that are not logged: requests without a project,
 * and GET requests of users, because an open dashboard sends such requests every second.
 */
export function createLogEntry(
  c: RequestContext,
  p: { requestId: string; route: string; status: number; ms: number },
): NewLoggedRequest | undefined {
  const { method } = c.req;
  const [projectId, actor] = [c.get('projectId'), c.get('actor')];
  if (!projectId || !actor || (actor.kind === 'user' && method === 'GET')) return undefined;
  const affectedRows = c.get('affectedRows');
  return {
    ...p,
    id: uuidv7(),
    projectId,
    method,
    actor: formatActor(actor),
    made: affectedRows ?? null,
    errorCode: c.get('errorCode') ?? null,
    createdAt: new Date(Date.now() - p.ms),
  };
}

/** Stores the ids of records that a request created or changed, by kind of record, for its log entry. */
export function noteAffectedRows(c: RequestContext, rows: AffectedRows): void {
  const shortened = Object.entries(rows).map(([kind, ids]) => [kind, ids.slice(0, IDS_MAX)]);
  c.set('affectedRows', Object.fromEntries(shortened));
}
