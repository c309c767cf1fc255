import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { describeFailure } from '../../rules/failure-text.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Db } from '../connection.ts';
import type { RowOf } from '../schema/database.ts';

/**
 * The interval at which each process reports that it is running. The interval is short enough to notice a lost process
 * within 35 s. Each report writes one small row.
 */
const BEAT_MS = 10_000;
/** A process counts as lost after this time: three missed reports. */
const ALIVE_SECONDS = 35;
/** Processes that ended earlier than this are not shown. */
const SHOWN_HOURS = 24;

const COLUMNS = ['id', 'kind', 'host', 'pid', 'version', 'build', 'started_at', 'seen_at'] as const;

/** Version and build of a process. */
export interface Release {
  /** Version in package.json. */
  version: string;
  /** Hash of the compiled modules. Two processes with the same hash run the same code. */
  build: string;
}

/** A process of the service, as it last reported. */
export interface ServiceProcess extends Release {
  id: string;
  kind: 'api' | 'worker';
  host: string;
  pid: number;
  startedAt: Date;
  seenAt: Date;
  /** True if the process reported within the last 35 s. A process that was stopped normally is not listed. */
  alive: boolean;
}

/**
 * Reports regularly that this process is running, for the operator's page, until `stop` is called. An error of Postgres
 * does not end the process; a later report shows the process again.
 */
export function startHeartbeat(
  db: Db,
  p: { kind: 'api' | 'worker'; release: Release; log: Pick<Logger, 'debug'> },
): { stop(): Promise<void> } {
  const row = { id: uuidv7(), kind: p.kind, host: hostname(), pid: process.pid, ...p.release, started_at: new Date() };
  const ignoreErrors = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: Error) => p.log.debug({ reason: describeFailure(error) }, 'the heartbeat was not recorded'));
  let last = ignoreErrors(reportProcess(db, row));
  const timer = setInterval(() => {
    last = last.then(() => ignoreErrors(reportProcess(db, row)));
  }, BEAT_MS).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
      await ignoreErrors(db.deleteFrom('processes').where('id', '=', row.id).execute());
    },
  };
}

async function reportProcess(
  db: Db,
  row: Release & { id: string; kind: 'api' | 'worker'; host: string; pid: number; started_at: Date },
): Promise<void> {
  await db
    .insertInto('processes')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: sql`now()` }))
    .execute();
}

/** Lists the processes that reported within the last day, the running ones first. */
export async function listProcesses(db: Db): Promise<ServiceProcess[]> {
  const rows = await db
    .selectFrom('processes')
    .select([...COLUMNS, sql<boolean>`seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})`.as('alive')])
    .where('seen_at', '>', sql<Date>`now() - make_interval(hours => ${SHOWN_HOURS})`)
    .orderBy('alive', 'desc')
    .orderBy('kind')
    .orderBy('id')
    .execute();
  return rows.map(toProcess);
}

/** Deletes processes that were killed and are no longer shown. Safe to run twice, and at any time. */
export async function deleteEndedProcesses(db: Db): Promise<void> {
  await sql`DELETE FROM processes WHERE seen_at < now() - make_interval(hours => ${SHOWN_HOURS})`.execute(db);
}

function toProcess({
  started_at,
  seen_at,
  ...row
}: RowOf<'processes', typeof COLUMNS> & { alive: boolean }): ServiceProcess {
  return { ...row, startedAt: started_at, seenAt: seen_at };
}
