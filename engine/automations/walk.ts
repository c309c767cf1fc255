import { ZodError } from 'zod';
import type { NewVisit } from '../../db/executions/visits.ts';
import { findNextStep, type Graph, type GraphStep } from '../../db/workflows/graph.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { assertNever } from '../../rules/assert-never.ts';
import { hasExpression } from '../../rules/content/expressions.ts';
import { AppError } from '../../rules/errors.ts';
import type { Next, VisitStatus } from '../../rules/executions/execution.ts';
import type { Exits } from '../../rules/executions/exits.ts';
import type { FailureCode } from '../../rules/executions/failure-codes.ts';
import { fillCondition } from '../../rules/executions/fill-condition.ts';
import {
  createLoopGuard,
  LOOP_CODE,
  type LoopGuard,
  MAX_VISITS,
  recordPauseStart,
  recordVisit,
} from '../../rules/executions/loop-guard.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { hasSideEffect } from '../../rules/executions/steps/registry.ts';
import { chooseBranch, SplitConfig } from '../../rules/executions/steps/split.ts';
import { WaitConfig } from '../../rules/executions/steps/wait-for-event.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import { computeDelayEnd } from './delay-due.ts';
import type { ExecutionEnvironment } from './environment.ts';
import { computeNext } from './next.ts';
import type { PendingWrites } from './pending-writes.ts';
import type { NewWait } from './waits.ts';

/**
 * The fields of an execution that a walk reads and changes. `visit` is the number of steps that the execution has
 * reached.
 */
export interface WalkingExecution {
  id: string;
  projectId: string;
  workflowId: string;
  contactId: string;
  visit: number;
  event: Record<string, unknown>;
  context: Record<string, unknown>;
  /** Whether an unauthenticated caller's event started the execution, so that `event` has that caller's values. */
  untrusted: boolean;
  /**
   * Whether an unauthenticated caller started the execution or ended one of its waits. Steps of such an execution
   * cannot end a suppression or an unsubscription.
   */
  untrustedTrigger: boolean;
  mode: KeyMode;
  /** The state of the loop guard. Null until the workflow has a cycle. */
  laps: LoopGuard | null;
  /** The state of a sandbox; null for a real execution. */
  run: SandboxState | null;
  /**
   * The exits of the workflow. The walk checks the exits only for sandboxes. A real execution ends when the event of an
   * exit is recorded.
   */
  exits: Exits;
}

export interface Walk {
  execution: WalkingExecution;
  graph: Graph;
  /** The next step; null at the end of the graph. */
  stepId: string | null;
  /**
   * The instant from which a recorded event counts for a WAIT_FOR_EVENT that comes next; the current time if absent.
   */
  eventsSince?: Date;
  /** The number of the visit that ended before this walk; absent when the execution starts. */
  from?: number;
  /** Collects the changes to write. */
  pending: PendingWrites;
}

/**
 * The result of a walk: the position at which it stopped. An execution that has ended has no step. `savePendingWrites`
 * may change `next`, so read `next` after that call.
 */
export interface WalkStop {
  next: Next;
  step?: GraphStep;
}

/**
 * Walks an execution from a step to the next position that needs Temporal (an effect, a timer or a wait), or to the
 * execution's end. Reads the time, the contact and events only through `environment`. Collects its changes in
 * `pending`. The caller saves the changes with the change that caused the walk, in one transaction, while the contact
 * is locked. One mark is written at once: that an event of an unauthenticated caller ended a wait
 * (`noteUntrustedTrigger`). A walk always ends, because no execution visits more than `MAX_VISITS` steps. Enabling a
 * workflow rejects cycles without a wait. The limit `MAX_VISITS` is still necessary, because a later edit can create
 * such a cycle, and the instant of a DELAY may already have passed.
 */
export async function walk(environment: ExecutionEnvironment, w: Walk): Promise<WalkStop> {
  let stepId = w.stepId;
  if (w.graph.circular) w.execution.laps ??= createLoopGuard();
  if (w.execution.run) w.pending.runs.set(w.execution.id, w.execution.run);
  while (true) {
    if (stepId === null) return endExecution(w, { status: 'COMPLETED', reason: null });
    const step = w.graph.steps.get(stepId);
    if (!step) return endExecution(w, { status: 'EXITED', reason: 'step_deleted' });
    const arrived = await arriveAt(environment, w, step);
    if ('next' in arrived) return arrived;
    stepId = findNextStep(w.graph, step.id, arrived.branch);
  }
}

/** The result of arriving at a step: the walk stops, or it continues on a branch. */
type Arrival = WalkStop | { branch?: Branch };

async function arriveAt(environment: ExecutionEnvironment, w: Walk, step: GraphStep): Promise<Arrival> {
  const { laps } = w.execution;
  if (w.execution.visit >= MAX_VISITS) return failExecution(w, { code: 'loop', error: LOOP_CODE, stepId: step.id });
  w.execution.visit += 1;
  if (laps && recordVisit(laps, step.id)) return failAt(w, step, LOOP_CODE, 'loop');
  if (hasSideEffect(step.type)) return stopAtEffect(environment, w, step);
  switch (step.type) {
    case 'DELAY':
      return stopAtDelay(environment, w, step);
    case 'WAIT_FOR_EVENT':
      return stopAtWait(environment, w, step);
    case 'CONDITION':
      return passCondition(environment, w, step);
    case 'SPLIT':
      return passSplit(environment, w, step);
    case 'EXIT':
      return exitAt(w, step);
    default:
      return assertNever(step.type);
  }
}

function stopAtEffect(environment: ExecutionEnvironment, w: Walk, step: GraphStep): WalkStop {
  recordPause(w.execution, environment.now(w.execution), null);
  const visit = addVisit(w, step, { status: 'RUNNING' });
  moveTo(w, step, 'RUNNING');
  return { next: computeNext(w.graph, step, visit), step };
}

async function stopAtDelay(environment: ExecutionEnvironment, w: Walk, step: GraphStep): Promise<Arrival> {
  const now = environment.now(w.execution).getTime();
  const due = await computeDelayEnd(environment, { step, execution: w.execution, nowMs: now });
  if (!due) return failAt(w, step, 'the "until" of this DELAY is not a date-time');
  const { dueAt, countsMs } = due;
  if (dueAt.getTime() <= now) {
    addVisit(w, step, { status: 'COMPLETED', output: { dueAt: dueAt.toISOString() } });
    return {};
  }
  return pauseAt(environment, w, step, { now, dueAt, ...(countsMs !== undefined && { countsMs }) });
}

async function stopAtWait(environment: ExecutionEnvironment, w: Walk, step: GraphStep): Promise<Arrival> {
  const config = WaitConfig.parse(step.config);
  const now = environment.now(w.execution).getTime();
  const deadlineAt = config.timeout === undefined ? null : new Date(now + config.timeout * 1_000);
  const { id, visit, contactId } = w.execution;
  const wait = {
    contactId,
    eventName: config.eventName,
    filters: await fillWait(environment, w.execution, config.filters),
    includeAutomatic: config.includeAutomatic ?? false,
    since: w.eventsSince ?? null,
  };
  const event = await environment.findEvent(w.execution, { ...wait, taken: listTakenEvents(w), from: w.from ?? 0 });
  if (event) {
    if (event.untrustedTrigger) {
      w.execution.untrustedTrigger = true;
      await environment.noteUntrustedTrigger(w.execution);
    }
    addVisit(w, step, { status: 'COMPLETED', dueAt: deadlineAt, output: { branch: 'event', eventId: event.id } });
    return { branch: 'event' };
  }
  const registered = { ...wait, executionId: id, visit, deadlineAt };
  w.pending.waits.push(registered);
  if (w.execution.run) w.execution.run.filters = wait.filters ?? null;
  return pauseAt(environment, w, step, { now, dueAt: deadlineAt, wait: registered });
}

/** Replaces the variables in the filters of a wait with the execution's values at the start of the wait. */
async function fillWait(
  environment: ExecutionEnvironment,
  execution: WalkingExecution,
  filters: Condition | undefined,
): Promise<Condition | undefined> {
  if (!hasExpression(filters)) return filters;
  const { variables } = await environment.loadVariables(execution);
  return filters && fillCondition(filters, variables, 'wait');
}

/**
 * Returns the ids of the events that have ended waits of this execution in this walk, including a wait whose end caused
 * the walk.
 */
function listTakenEvents({ execution, pending }: Walk): string[] {
  return [...pending.closed, ...pending.visits].flatMap(({ executionId, output }) =>
    executionId === execution.id && typeof output?.eventId === 'string' ? output.eventId : [],
  );
}

/**
 * Stops the walk at a pause. `countsMs` is the waiting time for the loop guard, if it differs from the length of the
 * pause.
 */
function pauseAt(
  environment: ExecutionEnvironment,
  w: Walk,
  step: GraphStep,
  p: { now: number; dueAt: Date | null; wait?: NewWait; countsMs?: number },
): WalkStop {
  const { laps, run, id: executionId } = w.execution;
  recordPause(w.execution, new Date(p.now), p.dueAt);
  if (laps) recordPauseStart(laps, p.countsMs ?? (p.dueAt ? p.dueAt.getTime() - p.now : undefined));
  const visit = addVisit(w, step, { status: 'WAITING', dueAt: p.dueAt });
  moveTo(w, step, 'WAITING');
  const stop = { next: environment.withSandboxTimer(w.execution, step, computeNext(w.graph, step, visit)), step };
  w.pending.pauses.push({ executionId, visit, stop, wait: p.wait, hasTimer: !run?.skipDelays });
  return stop;
}

/** Records in the state of a sandbox when the execution reached its step, and when the pause ends. */
function recordPause({ run }: WalkingExecution, since: Date, dueAt: Date | null): void {
  if (run) Object.assign(run, { since: since.toISOString(), dueAt: dueAt?.toISOString() ?? null });
}

async function passCondition(environment: ExecutionEnvironment, w: Walk, step: GraphStep): Promise<Arrival> {
  const isMet = await environment.isConditionMet(w.execution, step.config).catch(toUnusable);
  if (isMet instanceof Unusable) return failAt(w, step, isMet.message);
  const branch = isMet ? 'yes' : 'no';
  addVisit(w, step, { status: 'COMPLETED', output: { branch } });
  return { branch };
}

async function passSplit(environment: ExecutionEnvironment, w: Walk, step: GraphStep): Promise<Arrival> {
  const { contactId } = w.execution;
  if (!SplitConfig.safeParse(step.config).success) return failAt(w, step, 'this SPLIT is not configured');
  const taken = await environment.findTakenBranch(w.execution, step.id);
  const branch = chooseBranch(step.config, { contactId, stepId: step.id, taken });
  addVisit(w, step, { status: 'COMPLETED', output: { branch } });
  return { branch };
}

function exitAt(w: Walk, step: GraphStep): WalkStop {
  const reason = typeof step.config.reason === 'string' ? step.config.reason : null;
  addVisit(w, step, { status: 'COMPLETED', output: reason ? { reason } : null });
  return endExecution(w, { status: 'EXITED', reason, stepId: step.id });
}

/**
 * The error of a condition that cannot be evaluated. `passCondition` fails the execution with this error, so the
 * request that tracked the event gets no error.
 */
class Unusable extends Error {}

function toUnusable(error: unknown): Unusable {
  if (error instanceof AppError || error instanceof ZodError)
    return new Unusable(`this condition cannot be evaluated: ${error.message}`);
  throw error;
}

/** Records the visit of a step and its result. */
function addVisit(
  { execution, pending }: Walk,
  step: GraphStep,
  how: { status: VisitStatus; output?: Record<string, unknown> | null; dueAt?: Date | null; error?: string },
): NewVisit {
  const { id: executionId, visit } = execution;
  const added = { executionId, visit, stepId: step.id, type: step.type, ...how };
  pending.visits.push(added);
  return added;
}

/** Records the step that the execution is at. */
function moveTo({ execution, pending }: Walk, step: GraphStep, status: 'RUNNING' | 'WAITING'): void {
  const { id: executionId, visit, laps } = execution;
  pending.positions.push({ executionId, visit, stepId: step.id, status, laps });
}

function endExecution(
  { execution, pending }: Walk,
  how: { status: 'COMPLETED' | 'EXITED'; reason: string | null; stepId?: string },
): WalkStop {
  const { status, reason, stepId = null } = how;
  pending.positions.push({ executionId: execution.id, visit: execution.visit, stepId, status, reason });
  return { next: { kind: 'end', status, reason } };
}

function failAt(w: Walk, step: GraphStep, error: string, code: FailureCode = 'invalid_step'): WalkStop {
  addVisit(w, step, { status: 'FAILED', error });
  return failExecution(w, { code, error, stepId: step.id });
}

/**
 * Fails an execution that cannot continue. Temporal gets only the code of the error, because the message of the error
 * may contain a tenant's text.
 */
export function failExecution(
  { execution, pending }: { execution: { id: string; visit: number }; pending: PendingWrites },
  { code, error, stepId }: { code: FailureCode; error: string; stepId: string },
): WalkStop {
  const { id: executionId, visit } = execution;
  pending.positions.push({ executionId, visit, stepId, status: 'FAILED', reason: code, error });
  return { next: { kind: 'end', status: 'FAILED', reason: code } };
}
