import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Db } from '../../db/connection.ts';
import { insertRequests, type NewLoggedRequest } from '../../db/requests/request-log.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { RequestMade } from '../../rules/request-made.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { actorName } from './actor.ts';
import type { RequestContext } from './env.ts';

/** From one write to the next: what a kill loses is younger. */
const INTERVAL_MS = 250;
/** Of one project in an interval, so that a busy one takes neither the room of others nor much of Postgres. */
const PROJECT_MAX = 100;
/** Of all in an interval: some 300 KB. */
const WAITING_MAX = 1_000;
/** Ids that an entry keeps of each kind. */
const MADE_MAX = 100;
/** `npm start` allows 20 s for everything. */
const CLOSE_MS = 3_000;

/** Keeps what was asked, beside the requests and never in their way. */
export interface RequestLog {
  add(request: NewLoggedRequest): void;
  /** Writes what waits; nothing is taken after it. */
  close(): Promise<void>;
}

/**
 * Writes the log of requests, in one statement each quarter of a second. What comes beyond the bounds is left out, as
 * is what Postgres does not take: a log is no reason to hold up a request or to keep memory.
 */
export function createRequestLog({ db, log }: { db: Db; log: Pick<Logger, 'warn'> }): RequestLog {
  let waiting: NewLoggedRequest[] = [];
  let ofProject = new Map<string, number>();
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;
  /** One write at a time: a slow Postgres has no more than one to do. */
  let writing: Promise<void> | undefined;
  let closed = false;

  function schedule(): void {
    if (timer || writing || closed || waiting.length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      writing = write().finally(() => {
        writing = undefined;
        schedule();
      });
    }, INTERVAL_MS);
  }

  async function write(): Promise<void> {
    const [requests, missed] = [waiting, leftOut];
    [waiting, ofProject, leftOut] = [[], new Map(), 0];
    if (missed > 0) log.warn({ requests: missed }, 'requests were left out of their log: too many at a time');
    try {
      await insertRequests(db, requests);
    } catch (error) {
      log.warn({ reason: describeFailure(error), requests: requests.length }, 'requests are missing in their log');
    }
  }

  return {
    add(request) {
      const count = ofProject.get(request.projectId) ?? 0;
      if (closed || count >= PROJECT_MAX || waiting.length >= WAITING_MAX) {
        leftOut += 1;
        return;
      }
      ofProject.set(request.projectId, count + 1);
      waiting.push(request);
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
 * The entry of a request that is answered; undefined for what is not logged: requests of nobody's project, and what
 * people only look at, since a dashboard asks every second.
 */
export function logEntry(
  c: RequestContext,
  p: { requestId: string; route: string; status: number; ms: number },
): NewLoggedRequest | undefined {
  const { method } = c.req;
  const [projectId, actor] = [c.get('projectId'), c.get('actor')];
  if (!projectId || !actor || (actor.kind === 'user' && method === 'GET')) return undefined;
  const made = c.get('made');
  return {
    ...p,
    id: uuidv7(),
    projectId,
    method,
    actor: actorName(actor),
    made: made ?? null,
    errorCode: c.get('errorCode') ?? null,
    createdAt: new Date(Date.now() - p.ms),
  };
}

/** Notes ids of what a request has made, for its entry in the log. */
export function noteMade(c: RequestContext, made: RequestMade): void {
  const shortened = Object.entries(made).map(([kind, ids]) => [kind, ids.slice(0, MADE_MAX)]);
  c.set('made', Object.fromEntries(shortened));
}
