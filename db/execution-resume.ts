import { sql, type Transaction } from 'kysely';
import type { EffectType, Next, StepInput } from '../domain/execution.ts';
import { lockContacts } from './contact-locks.ts';
import { type Branch, follow, type Graph, type GraphStep, loadGraph } from './execution-graph.ts';
import { completeVisit, findVisit, moveExecution, type Visit, type VisitOutcome } from './execution-visits.ts';
import { deleteWait, findWaitEvent } from './execution-waits.ts';
import { delayNext, effectNext, fail, type WalkingExecution, waitNext, walk } from './execution-walk.ts';
import type { Database } from './schema.ts';

/** An execution under its contact's lock, at the visit where it stands. */
export interface StandingExecution extends WalkingExecution {
  workflowName: string;
  startedAt: Date;
  completedAt: Date | null;
  status: string;
  reason: string | null;
}

export interface Standing {
  execution: StandingExecution;
  graph: Graph;
  next: Next;
  /** The step of an effect that is to be run; undefined otherwise. */
  step: GraphStep | undefined;
}

/** An execution that stands at an effect of this type. */
export type EffectStanding = Standing & { next: Next & { kind: 'effect' }; step: GraphStep };

/** The standing execution when it is at an effect of `activity`; an activity that was overtaken by an edit passes on what is next. */
export function atEffect(standing: Standing | { next: Next }, activity: EffectType): EffectStanding | undefined {
  const { next } = standing;
  if (!('step' in standing) || !standing.step || next.kind !== 'effect' || next.activity !== activity) return undefined;
  return { ...standing, next, step: standing.step };
}

const ENDED: Next = { kind: 'end', status: 'CANCELLED', reason: 'contact_deleted' };

/**
 * Finds out where an execution stands, after ending the pause that `input` says is over. Safe to run again: what an earlier attempt of
 * the same activity has done is seen in the database, and the answer goes on from there.
 */
export async function resumeExecution(
  trx: Transaction<Database>,
  input: StepInput,
): Promise<Standing | { next: Next }> {
  const execution = await lockExecution(trx, input.projectId, input.executionId);
  if (!execution) return { next: ENDED };
  if (execution.completedAt) return { next: endOf(execution) };
  const graph = await loadGraph(trx, execution.projectId, execution.workflowId);
  const resumed =
    input.resume && execution.visit === input.visit ? await endPause(trx, execution, graph, input.resume) : undefined;
  const next = resumed ?? (await currentNext(trx, execution, graph));
  const visit = next.kind === 'effect' ? await findVisit(trx, execution.id, next.visit) : undefined;
  return { execution, graph, next, step: visit && graph.steps.get(visit.stepId) };
}

export interface EffectOutcome extends Omit<VisitOutcome, 'executionId'> {
  projectId: string;
  executionId: string;
  /** Set when the execution cannot go on after this (a webhook with onFailure FAIL). */
  fails?: boolean;
}

/**
 * Closes the visit of an effect and walks on, in the transaction that records the effect itself.
 * A visit that was closed before is left as it is, and the answer is where the execution stands now.
 */
export async function completeEffect(trx: Transaction<Database>, o: EffectOutcome): Promise<Next> {
  const execution = await lockExecution(trx, o.projectId, o.executionId);
  if (!execution) return ENDED;
  const visit = await findVisit(trx, o.executionId, o.visit);
  const closed = await completeVisit(trx, o);
  if (execution.completedAt) return endOf(execution);
  const graph = await loadGraph(trx, execution.projectId, execution.workflowId);
  if (!closed || !visit) return currentNext(trx, execution, graph);
  if (o.fails) return fail(trx, { execution }, o.error ?? 'the step failed', visit.stepId);
  return walkOn(trx, execution, graph, visit);
}

async function endPause(
  trx: Transaction<Database>,
  execution: StandingExecution,
  graph: Graph,
  resume: NonNullable<StepInput['resume']>,
): Promise<Next | undefined> {
  const visit = await findVisit(trx, execution.id, execution.visit);
  if (visit?.status !== 'WAITING') return undefined;
  if (resume === 'delay') {
    await completeVisit(trx, { executionId: execution.id, visit: visit.visit, status: 'COMPLETED' });
    return walkOn(trx, execution, graph, visit);
  }
  // The row decides, not the signal: an event that came in with the deadline counts as the event.
  const eventId = await findWaitEvent(trx, execution.id, visit.visit);
  const branch: Branch = eventId ? 'event' : 'timeout';
  const output = eventId ? { branch, eventId } : { branch };
  await completeVisit(trx, { executionId: execution.id, visit: visit.visit, status: 'COMPLETED', output });
  await deleteWait(trx, execution.id, visit.visit);
  return walkOn(trx, execution, graph, visit, branch);
}

/** Goes on after a step that is done. A step that was deleted meanwhile leads nowhere: the execution ends there. */
async function walkOn(
  trx: Transaction<Database>,
  execution: StandingExecution,
  graph: Graph,
  visit: Visit,
  branch?: Branch,
): Promise<Next> {
  if (!graph.steps.has(visit.stepId)) return exitDeleted(trx, execution);
  // What a mail brings about (email.open, email.click …) may be recorded before its step ends: it counts from the step's start.
  const eventsSince = visit.type === 'SEND_EMAIL' ? visit.startedAt : undefined;
  return walk(trx, {
    execution,
    graph,
    stepId: follow(graph, visit.stepId, branch),
    ...(eventsSince && { eventsSince }),
  });
}

async function exitDeleted(trx: Transaction<Database>, execution: StandingExecution): Promise<Next> {
  const { id, visit } = execution;
  await moveExecution(trx, { executionId: id, visit, stepId: null, status: 'EXITED', reason: 'step_deleted' });
  return { kind: 'end', status: 'EXITED', reason: 'step_deleted' };
}

/** Where an execution stands by its last visit. */
async function currentNext(trx: Transaction<Database>, execution: StandingExecution, graph: Graph): Promise<Next> {
  const visit = await findVisit(trx, execution.id, execution.visit);
  const step = visit && graph.steps.get(visit.stepId);
  if (!visit || !step) return exitDeleted(trx, execution);
  switch (visit.type) {
    case 'SEND_EMAIL':
    case 'WEBHOOK':
    case 'UPDATE_CONTACT':
      return effectNext(visit.visit, step, visit.type);
    case 'DELAY':
      return delayNext(visit.visit, step, visit.dueAt ?? new Date(), graph);
    default:
      return waitNext(visit.visit, step, visit.dueAt, graph);
  }
}

/** Locks the contact, then reads the execution: the order of every transaction that touches both. */
async function lockExecution(
  trx: Transaction<Database>,
  projectId: string,
  executionId: string,
): Promise<StandingExecution | undefined> {
  const { rows: owners } = await sql<{ contact_id: string }>`
    SELECT contact_id FROM executions WHERE project_id = ${projectId} AND id = ${executionId}
  `.execute(trx);
  const contactId = owners[0]?.contact_id;
  if (!contactId) return undefined;
  await lockContacts(trx, projectId, [contactId]);
  const { rows } = await sql<StandingExecution>`
    SELECT e.id, e.project_id AS "projectId", e.workflow_id AS "workflowId", e.contact_id AS "contactId", e.visit, e.event,
      e.context, e.untrusted, e.mode, e.status, e.exit_reason AS reason, e.started_at AS "startedAt",
      e.completed_at AS "completedAt", w.name AS "workflowName"
    FROM executions e JOIN workflows w ON w.id = e.workflow_id
    WHERE e.project_id = ${projectId} AND e.id = ${executionId}
  `.execute(trx);
  return rows[0];
}

function endOf(execution: StandingExecution): Next {
  return { kind: 'end', status: execution.status as 'CANCELLED', reason: execution.reason };
}
