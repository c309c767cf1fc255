/**
 * Queries for the current state of a contact: its subscription with the last changes, its segments, and its executions.
 */
import { sql } from 'kysely';
import { CONTACT_EVENTS } from '../../rules/events/event-names.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { Db } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { findActorNames } from '../projects/actors.ts';
import type { SegmentType } from '../schema/segments.ts';
import { exportContactSegments } from './contact-export.ts';
import type { ContactRef } from './contacts.ts';
import { subscriptionChangeReasonSql } from './timeline.ts';

/** Maximum number of subscription changes shown. The newest change explains the current state. */
const CHANGES_SHOWN = 20;

export interface SubscriptionChange {
  at: Date;
  subscribed: boolean;
  actor: string | null;
  /** Name of the actor, if the actor has a name. */
  actorName: string | null;
  reason: string | null;
}

export interface ContactSegment {
  id: string;
  name: string;
  slug: string;
  type: SegmentType;
  /**
   * When the contact became a member of a STATIC or tracked segment. Null for segments whose members are not stored.
   */
  memberSince: Date | null;
}

export interface ContactExecution {
  id: string;
  workflowId: string;
  workflowName: string;
  status: ExecutionStatus;
  sandbox: boolean;
  currentStepId: string | null;
  stepName: string | null;
  stepType: StepType | null;
  /** When the execution's current wait ends. */
  dueAt: Date | null;
  exitReason: string | null;
  error: string | null;
  startedAt: Date;
  completedAt: Date | null;
}

/**
 * Lists subscriptions and unsubscriptions of a contact with the actor of each, newest first. Uses the index on name and
 * contact.
 */
export async function listSubscriptionChanges(db: Db, { projectId, id }: ContactRef): Promise<SubscriptionChange[]> {
  const { rows } = await sql<Omit<SubscriptionChange, 'actorName'>>`
    SELECT e.created_at AS at, e.name = 'contact.subscribed' AS subscribed, e.actor, coalesce(e.data->>'reason', ${subscriptionChangeReasonSql()}) AS reason
    FROM events e WHERE e.project_id = ${projectId} AND e.contact_id = ${id} AND e.name = ANY(${[...CONTACT_EVENTS]}::text[])
    ORDER BY e.id DESC LIMIT ${CHANGES_SHOWN}
  `.execute(db);
  const names = await findActorNames(db, { projectId, actors: rows.map(({ actor }) => actor) });
  return rows.map((row) => ({ ...row, actorName: names.get(row.actor ?? '') ?? null }));
}

/** Lists the segments that a contact is in now, by name. */
export async function listContactSegments(db: Db, { projectId, id }: ContactRef): Promise<ContactSegment[]> {
  const inside = await exportContactSegments(db, { projectId, id });
  const { rows } = await sql<ContactSegment>`
    SELECT s.id, s.name, s.slug, s.type, m.created_at AS "memberSince" FROM segments s
    LEFT JOIN segment_members m ON m.segment_id = s.id AND m.project_id = s.project_id AND m.contact_id = ${id}
      AND (s.type = 'STATIC' OR s.track_membership)
    WHERE s.project_id = ${projectId} AND s.id = ANY(${inside.map((segment) => segment.id)}::uuid[]) ORDER BY s.name, s.id
  `.execute(db);
  return rows;
}

/**
 * Lists a contact's executions newest first: all, only open ones (`active: true`), or only ended ones (`active:
 * false`). `total` is counted only on the first page and is 0 on later pages.
 */
export async function listContactExecutions(
  db: Db,
  p: ContactRef & PageRequest & { active?: boolean | undefined },
): Promise<Page<ContactExecution> & { total: number }> {
  const state = p.active === undefined ? sql`` : sql`AND (x.completed_at IS NULL) = ${p.active}`;
  const found = sql`x.project_id = ${p.projectId} AND x.contact_id = ${p.id} ${state}`;
  const { rows } = await sql<ContactExecution>`
    SELECT x.id, x.workflow_id AS "workflowId", w.name AS "workflowName", x.status, x.sandbox, x.current_step_id AS "currentStepId",
      t.name AS "stepName", t.type AS "stepType",
      (SELECT s.due_at FROM execution_steps s WHERE s.execution_id = x.id AND s.completed_at IS NULL ORDER BY s.visit DESC LIMIT 1) AS "dueAt",
      x.exit_reason AS "exitReason", x.error, x.started_at AS "startedAt", x.completed_at AS "completedAt"
    FROM executions x JOIN workflows w ON w.id = x.workflow_id LEFT JOIN workflow_steps t ON t.id = x.current_step_id
    WHERE ${found} AND ${afterCursorSql(p.cursor, 'x.id')} ORDER BY x.id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  const counting = sql<{ total: number }>`SELECT count(*) AS total FROM executions x WHERE ${found}`;
  const total = p.cursor === undefined ? ((await counting.execute(db)).rows[0]?.total ?? 0) : 0;
  return { ...toPage(rows, p.limit, (row) => row), total };
}
