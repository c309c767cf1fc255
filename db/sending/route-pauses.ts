import { sql } from 'kysely';
import type { RefusalStage } from '../../rules/emails/refusal.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';
import type { RowOf } from '../schema/database.ts';
import { inTransaction } from '../transaction.ts';

/** A route that is paused for one project, or for all projects if `projectId` is null. */
export interface RoutePause {
  id: string;
  projectId: string | null;
  stage: RefusalStage;
  /** The server's reply, without addresses. */
  reply: string;
  since: Date;
  nextProbeAt: Date;
}

export interface NewRoutePause {
  route: string;
  /** Projects whose email was refused. With no project, or with two or more, the route is paused for all projects. */
  projectIds: readonly string[];
  /** Identifies the kind of refusal. */
  refusal: string;
  stage: RefusalStage;
  reply: string;
  senderHost: string;
  emailId: string | null;
  nextProbeAt: Date;
}

const COLUMNS = ['id', 'project_id', 'stage', 'reply', 'since', 'next_probe_at'] as const;

/** Lists the current pauses of a route. A route has only a few pauses. */
export async function listRoutePauses(db: Db, route: string): Promise<RoutePause[]> {
  const rows = await db.selectFrom('route_pauses').select(COLUMNS).where('route', '=', route).orderBy('id').execute();
  return rows.map(toPause);
}

/**
 * Pauses a route for the project whose email was refused. If the same refusal has paused the route for another project,
 * or if emails of several projects were refused, the pause applies to all projects. If the route already has this
 * pause, nothing changes.
 * @returns the new pause, or undefined if none was added
 */
export async function pauseRoute(db: Db, p: NewRoutePause): Promise<RoutePause | undefined> {
  return inTransaction(db, async (trx) => {
    // If two processes pause the route for two projects at the same time, the second one sees the pause of the first.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${p.route}, 0))`.execute(trx);
    const { rows } = await sql<RowOf<'route_pauses', typeof COLUMNS>>`
      WITH scope AS (
        SELECT CASE WHEN count(DISTINCT project_id) = 1 AND ${p.projectIds.length} > 0 THEN (array_agg(project_id))[1] END
          AS project_id FROM (
          SELECT unnest(${[...p.projectIds]}::uuid[]) AS project_id
          UNION ALL SELECT project_id FROM route_pauses
          WHERE route = ${p.route} AND refusal = ${p.refusal} AND project_id IS NOT NULL) AS refused
      )
      INSERT INTO route_pauses (route, project_id, refusal, stage, reply, sender_host, email_id, next_probe_at)
      SELECT ${p.route}, project_id, ${p.refusal}, ${p.stage}, ${p.reply}, ${p.senderHost}, ${p.emailId}, ${p.nextProbeAt}
      FROM scope ON CONFLICT (route, project_id) DO NOTHING
      RETURNING ${sql.raw(COLUMNS.join(', '))}
    `.execute(trx);
    return rows[0] && toPause(rows[0]);
  });
}

/** A pause whose next probe is due, with the sender and recipient of a refused email. */
export interface DueProbe {
  id: string;
  stage: RefusalStage;
  senderHost: string;
  emailId: string | null;
  /** Null if the email or its contact was deleted. */
  to: string | null;
}

/**
 * Returns the pauses whose probe is due, and sets the time of each pause's next probe, so that only one process makes
 * each probe. The first interval is `firstSeconds`. Each further interval is twice as long, up to `mostSeconds`.
 */
export async function takeDueProbes(
  db: Db,
  p: { route: string; firstSeconds: number; mostSeconds: number },
): Promise<DueProbe[]> {
  const { rows } = await sql<DueProbe>`
    WITH due AS (
      UPDATE route_pauses SET probes = probes + 1,
        next_probe_at = now() + make_interval(secs => least(${p.mostSeconds}, ${p.firstSeconds} * 2 ^ least(probes, 10)))
      WHERE route = ${p.route} AND next_probe_at <= now() RETURNING *
    )
    SELECT d.id, d.stage, d.sender_host AS "senderHost", d.email_id AS "emailId", coalesce(e.to_email, c.email) AS "to"
    FROM due d LEFT JOIN emails e ON e.id = d.email_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
  `.execute(db);
  return rows;
}

/**
 * Returns the first verified domain of the installation, for the sender address of a probe. Undefined if the
 * installation has no verified domain.
 */
export async function findAnySenderHost(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('domains')
    .select('domain')
    .where('status', '=', 'VERIFIED')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.domain;
}

/** Ends a pause. Returns false if it has already ended. */
export async function endRoutePause(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('route_pauses').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Ends the pauses of routes with other settings. An operator has changed the settings, so email is attempted with the
 * new ones.
 */
export async function endPausesOfOtherRoutes(db: Db, route: string): Promise<void> {
  await db.deleteFrom('route_pauses').where('route', '<>', route).execute();
}

/** Stores the server's latest reply with a pause. */
export async function recordRouteReply(db: Db, p: { id: string; reply: string }): Promise<void> {
  await db.updateTable('route_pauses').set({ reply: p.reply }).where('id', '=', p.id).execute();
}

/** Lists the pauses of all routes with the names of their projects, for the operator, at most 1,000. */
export async function listAllRoutePauses(db: Db): Promise<(RoutePause & { projectName: string | null })[]> {
  const rows = await db
    .selectFrom('route_pauses')
    .leftJoin('projects', 'projects.id', 'route_pauses.project_id')
    .select([...COLUMNS.map((column) => `route_pauses.${column}` as const), 'projects.name as project_name'])
    .orderBy('route_pauses.id')
    .limit(1_000)
    .execute();
  return rows.map((row) => ({ ...toPause(row), projectName: row.project_name }));
}

/**
 * Ends a pause on request of an operator.
 * @throws AppError NOT_FOUND if the pause has already ended
 */
export async function resumeRoute(db: Db, id: string): Promise<void> {
  if (!(await endRoutePause(db, id))) throw new AppError('NOT_FOUND', { message: 'This route is not paused.' });
}

function toPause(row: RowOf<'route_pauses', typeof COLUMNS>): RoutePause {
  const { id, stage, reply, since } = row;
  return { id, projectId: row.project_id, stage, reply, since, nextProbeAt: row.next_probe_at };
}
