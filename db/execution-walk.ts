import { sql, type Transaction } from 'kysely';
import { ZodError } from 'zod';
import { AppError } from '../domain/errors.ts';
import type { EffectType, Next, StepActivity } from '../domain/execution.ts';
import { parseCondition } from '../domain/filters.ts';
import { interpolate } from '../domain/interpolate.ts';
import { delayMs, WaitConfig } from '../domain/steps.ts';
import { conditionHolds } from './execution-condition.ts';
import { type Branch, follow, type Graph, type GraphStep } from './execution-graph.ts';
import { loadStepVariables } from './execution-variables.ts';
import { insertVisit, moveExecution, type VisitStatus } from './execution-visits.ts';
import { registerWait } from './execution-waits.ts';
import type { Database } from './schema.ts';

/** An execution as a walk needs it; `visit` counts the steps it has come to. */
export interface WalkingExecution {
  id: string;
  projectId: string;
  workflowId: string;
  contactId: string;
  visit: number;
  event: Record<string, unknown>;
  context: Record<string, unknown>;
  untrusted: boolean;
  mode: 'live' | 'test';
}

export interface Walk {
  execution: WalkingExecution;
  graph: Graph;
  /** Where to go; null is the end of the graph. */
  stepId: string | null;
  /** From when on an event counts for a WAIT_FOR_EVENT that comes next; now where it is absent. */
  eventsSince?: Date;
}

/** Steps without a pause between them. Enabling refuses such loops, but a running workflow can be edited into one. */
const MAX_STEPS_A_WALK = 200;

/**
 * Walks an execution on from a step to the next thing that takes Temporal: an effect, a timer or a wait; or to its end. Records each
 * step it passes. The caller holds the contact's lock, and commits it together with what led here.
 */
export async function walk(trx: Transaction<Database>, w: Walk): Promise<Next> {
  let stepId = w.stepId;
  for (let passed = 0; passed < MAX_STEPS_A_WALK; passed += 1) {
    if (stepId === null) return end(trx, w, { status: 'COMPLETED', reason: null });
    const step = w.graph.steps.get(stepId);
    if (!step) return end(trx, w, { status: 'EXITED', reason: 'step_deleted' });
    const arrived = await arrive(trx, w, step);
    if ('next' in arrived) return arrived.next;
    stepId = follow(w.graph, step.id, arrived.branch);
  }
  return fail(trx, w, 'the workflow runs in a circle without a DELAY or WAIT_FOR_EVENT in it');
}

/** A step either stops the walk or is passed, by a branch where it has any. */
type Arrival = { next: Next } | { branch?: Branch };

async function arrive(trx: Transaction<Database>, w: Walk, step: GraphStep): Promise<Arrival> {
  w.execution.visit += 1;
  switch (step.type) {
    case 'SEND_EMAIL':
    case 'WEBHOOK':
    case 'UPDATE_CONTACT':
      return { next: await stopAtEffect(trx, w, step, step.type) };
    case 'DELAY':
      return stopAtDelay(trx, w, step);
    case 'WAIT_FOR_EVENT':
      return stopAtWait(trx, w, step);
    case 'CONDITION':
      return passCondition(trx, w, step);
    case 'EXIT': {
      const reason = typeof step.config.reason === 'string' ? step.config.reason : null;
      await visited(trx, w, step, 'COMPLETED', reason ? { reason } : null);
      return { next: await end(trx, w, { status: 'EXITED', reason, stepId: step.id }) };
    }
  }
}

async function stopAtEffect(trx: Transaction<Database>, w: Walk, step: GraphStep, activity: EffectType): Promise<Next> {
  await visited(trx, w, step, 'RUNNING');
  await stand(trx, w, step, 'RUNNING');
  return effectNext(w.execution.visit, step, activity);
}

async function stopAtDelay(trx: Transaction<Database>, w: Walk, step: GraphStep): Promise<Arrival> {
  const dueAt = await dueOf(trx, step, w.execution);
  if (!dueAt) return { next: await failAt(trx, w, step, 'the "until" of this DELAY is not a date-time') };
  if (dueAt.getTime() <= Date.now()) {
    await visited(trx, w, step, 'COMPLETED', { dueAt: dueAt.toISOString() });
    return {};
  }
  await visited(trx, w, step, 'WAITING', null, dueAt);
  await stand(trx, w, step, 'WAITING');
  return { next: delayNext(w.execution.visit, step, dueAt, w.graph) };
}

async function stopAtWait(trx: Transaction<Database>, w: Walk, step: GraphStep): Promise<Arrival> {
  const config = WaitConfig.parse(step.config);
  const deadlineAt = config.timeout === undefined ? null : new Date(Date.now() + config.timeout * 1_000);
  await visited(trx, w, step, 'WAITING', null, deadlineAt);
  const eventId = await registerWait(trx, {
    projectId: w.execution.projectId,
    executionId: w.execution.id,
    visit: w.execution.visit,
    contactId: w.execution.contactId,
    eventName: config.eventName,
    filters: config.filters && parseCondition(config.filters, 'wait'),
    since: w.eventsSince ?? (await transactionStart(trx)),
    deadlineAt,
  });
  if (eventId) return passSatisfiedWait(trx, w, eventId);
  await stand(trx, w, step, 'WAITING');
  return { next: waitNext(w.execution.visit, step, deadlineAt, w.graph) };
}

/** The event had come before the wait was registered: the wait is over as it begins. */
async function passSatisfiedWait(trx: Transaction<Database>, w: Walk, eventId: string): Promise<Arrival> {
  await sql`
    UPDATE execution_steps SET status = 'COMPLETED', completed_at = now(),
      output = ${JSON.stringify({ branch: 'event', eventId })}::jsonb
    WHERE execution_id = ${w.execution.id} AND visit = ${w.execution.visit}
  `.execute(trx);
  await sql`
    DELETE FROM execution_waits WHERE execution_id = ${w.execution.id} AND visit = ${w.execution.visit}
  `.execute(trx);
  return { branch: 'event' };
}

async function passCondition(trx: Transaction<Database>, w: Walk, step: GraphStep): Promise<Arrival> {
  const { projectId, contactId, event, context } = w.execution;
  const holds = await conditionHolds(trx, { projectId, contactId, event, context, config: step.config }).catch(
    unusable,
  );
  if (holds instanceof Unusable) return { next: await failAt(trx, w, step, holds.message) };
  const branch = holds ? 'yes' : 'no';
  await visited(trx, w, step, 'COMPLETED', { branch });
  return { branch };
}

/** A condition that cannot be evaluated ends the execution; whoever tracked the event that started it gets no error for it. */
class Unusable extends Error {}

function unusable(error: unknown): Unusable {
  if (error instanceof AppError || error instanceof ZodError)
    return new Unusable(`this condition cannot be evaluated: ${error.message}`);
  throw error;
}

/** The instant at which a DELAY ends; null when its `until` does not come to one. */
async function dueOf(trx: Transaction<Database>, step: GraphStep, execution: WalkingExecution): Promise<Date | null> {
  if (typeof step.config.until !== 'string') {
    return new Date(Date.now() + delayMs(step.config as { amount: number; unit: 'days' }));
  }
  const { variables } = await loadStepVariables(trx, execution);
  const at = Date.parse(interpolate(step.config.until, variables));
  return Number.isNaN(at) ? null : new Date(at);
}

export function effectNext(visit: number, step: GraphStep, activity: EffectType): Next {
  return { kind: 'effect', visit, activity, label: labelOf(step) };
}

export function delayNext(visit: number, step: GraphStep, dueAt: Date, graph: Graph): Next {
  const then = activityAt(graph, follow(graph, step.id));
  return { kind: 'delay', visit, dueAt: dueAt.toISOString(), then, label: labelOf(step) };
}

export function waitNext(visit: number, step: GraphStep, deadlineAt: Date | null, graph: Graph): Next {
  return {
    kind: 'wait',
    visit,
    deadlineAt: deadlineAt?.toISOString() ?? null,
    onEvent: activityAt(graph, follow(graph, step.id, 'event')),
    onTimeout: activityAt(graph, follow(graph, step.id, 'timeout')),
    label: `${labelOf(step)} (${String(step.config.eventName)})`,
  };
}

/** The activity that a step needs: its own where it has an effect, else one that only walks on. */
function activityAt(graph: Graph, stepId: string | null): StepActivity {
  const type = stepId === null ? undefined : graph.steps.get(stepId)?.type;
  return type === 'SEND_EMAIL' || type === 'WEBHOOK' || type === 'UPDATE_CONTACT' ? type : 'ADVANCE';
}

/** What the Temporal UI shows of a step: the tenant's name for it, never data of a contact. */
function labelOf(step: GraphStep): string {
  return `${step.type} “${step.name}”`;
}

function visited(
  trx: Transaction<Database>,
  w: Walk,
  step: GraphStep,
  status: VisitStatus,
  output: Record<string, unknown> | null = null,
  dueAt: Date | null = null,
): Promise<void> {
  const { id, projectId, visit } = w.execution;
  return insertVisit(trx, {
    executionId: id,
    projectId,
    visit,
    stepId: step.id,
    type: step.type,
    status,
    output,
    dueAt,
  });
}

function stand(trx: Transaction<Database>, w: Walk, step: GraphStep, status: 'RUNNING' | 'WAITING'): Promise<boolean> {
  return moveExecution(trx, { executionId: w.execution.id, visit: w.execution.visit, stepId: step.id, status });
}

async function end(
  trx: Transaction<Database>,
  w: Walk,
  how: { status: 'COMPLETED' | 'EXITED'; reason: string | null; stepId?: string },
): Promise<Next> {
  const { id, visit } = w.execution;
  await moveExecution(trx, {
    executionId: id,
    visit,
    stepId: how.stepId ?? null,
    status: how.status,
    reason: how.reason,
  });
  return { kind: 'end', status: how.status, reason: how.reason };
}

async function failAt(trx: Transaction<Database>, w: Walk, step: GraphStep, error: string): Promise<Next> {
  const { id, projectId, visit } = w.execution;
  await insertVisit(trx, {
    executionId: id,
    projectId,
    visit,
    stepId: step.id,
    type: step.type,
    status: 'FAILED',
    error,
  });
  return fail(trx, w, error, step.id);
}

/** Ends an execution that cannot go on, with what an operator and the tenant need to mend it. */
export async function fail(
  trx: Transaction<Database>,
  w: { execution: { id: string; visit: number } },
  error: string,
  stepId: string | null = null,
): Promise<Next> {
  const { id, visit } = w.execution;
  await moveExecution(trx, { executionId: id, visit, stepId, status: 'FAILED', error });
  return { kind: 'end', status: 'FAILED', reason: error };
}

async function transactionStart(trx: Transaction<Database>): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`SELECT now() AS at`.execute(trx);
  return rows[0]?.at ?? new Date();
}
