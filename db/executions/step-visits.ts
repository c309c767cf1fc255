import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { createCursorError, decodeCursor } from '../../rules/cursor.ts';
import type { Db } from '../connection.ts';
import { type Page, type PageRequest, toKeyedPage } from '../keyset.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { countVisits } from './step-stats.ts';

/** The statuses of a visit that has ended. */
export const ENDED_VISIT_STATUSES = ['COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED'] as const;
export type EndedVisitStatus = (typeof ENDED_VISIT_STATUSES)[number];

/** A visit that has ended, with the contact of its execution. */
export interface EndedVisit {
  executionId: string;
  contactId: string;
  /** Null after the contact was deleted. */
  email: string | null;
  status: EndedVisitStatus;
  attempts: number;
  startedAt: Date;
  completedAt: Date;
  output: Record<string, unknown> | null;
  error: string | null;
}

/** Selects ended visits to a step, or only the visits that left the step by `branch`. */
interface EndedVisits {
  projectId: string;
  stepId: string;
  status: EndedVisitStatus;
  branch?: string | undefined;
}

interface Row extends EndedVisit {
  visit: number;
  /** The time when the visit ended, with microseconds. A Date has only milliseconds. */
  endedAt: string;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
/** The exclusive maximum of an int column. */
const VISIT_MAX = 2 ** 31;

/**
 * Lists visits that ended with one status, the latest first. The index `execution_steps_ended` has this order, so a few
 * failures among a million visits are found as fast as successes. With a branch, uses the index
 * `execution_steps_branch`. On the first page, `total` is the number in the statistics, which includes visits that were
 * erased or pruned in the meantime. It is null for CANCELLED, which the statistics do not count. On later pages,
 * `total` is 0.
 * @throws AppError BAD_REQUEST for an invalid cursor
 */
export async function listEndedVisits(
  db: Db,
  p: PageRequest & EndedVisits,
): Promise<Page<EndedVisit> & { total: number | null }> {
  const { rows } = await sql<Row>`
    SELECT s.execution_id AS "executionId", s.visit, e.contact_id AS "contactId", c.email, s.status, s.attempts,
      s.started_at AS "startedAt", s.completed_at AS "completedAt", s.output, s.error,
      to_char(s.completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "endedAt"
    FROM execution_steps s JOIN executions e ON e.id = s.execution_id AND NOT e.sandbox
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE s.step_id = ${p.stepId} AND s.status = ${p.status} AND s.completed_at IS NOT NULL
      AND ${p.branch === undefined ? sql`true` : sql`s.output->>'branch' = ${p.branch}`}
      AND ${isOwnedBySql('s.project_id', p.projectId)} AND ${isAfterCursor(p.cursor)}
    ORDER BY s.completed_at DESC, s.execution_id DESC, s.visit DESC LIMIT ${p.limit + 1}
  `.execute(db);
  const page = toKeyedPage(rows, {
    limit: p.limit,
    keyOf: ({ endedAt, executionId, visit }) => [endedAt, executionId, visit],
    map: ({ endedAt: _, visit: __, ...visited }): EndedVisit => visited,
  });
  return { ...page, total: p.cursor === undefined ? await countEnded(db, p) : 0 };
}

function isAfterCursor(cursor: string | undefined): RawBuilder<SqlBool> {
  if (cursor === undefined) return sql<SqlBool>`true`;
  const [at, id, visit] = decodeCursor(cursor, 3);
  const isOurs = INSTANT.test(String(at)) && !Number.isNaN(Date.parse(String(at))) && UUID.test(String(id));
  if (!isOurs || !Number.isInteger(visit) || Math.abs(Number(visit)) >= VISIT_MAX) throw createCursorError();
  return sql<SqlBool>`
    (s.completed_at, s.execution_id, s.visit) < (${at}::timestamptz, ${id}::uuid, ${visit}::int)`;
}

async function countEnded(db: Db, { projectId, stepId, status, branch }: EndedVisits): Promise<number | null> {
  if (status === 'CANCELLED') return null;
  const counts = await countVisits(db, { projectId, stepIds: [stepId] });
  const name = ({ COMPLETED: 'completed', SKIPPED: 'skipped', FAILED: 'failed' } as const)[status];
  const counted = branch === undefined ? counts : counts.filter((count) => count.branch === branch);
  return counted.reduce((sum, count) => sum + count[name], 0);
}
