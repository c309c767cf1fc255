import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { ERASED_END, eraseExecutions } from '../../db/executions/erased-executions.ts';
import type { VisitOutcome } from '../../db/executions/visits.ts';
import { findDeletedRows } from '../../db/records/deleted-rows.ts';
import type { GraphStep } from '../../db/workflows/graph.ts';
import type { ExecutionStatus, Next, StepInput } from '../../rules/executions/execution.ts';
import { findExitReason } from '../../rules/executions/exits.ts';
import { applyRunChanges, type RunChanges, type SandboxState } from '../../rules/executions/run.ts';
import { type EffectType, hasSideEffect } from '../../rules/executions/steps/registry.ts';
import { advanceToWorkflow } from './catch-up.ts';
import { continueWalk, endAtDeletedStep, endSandboxRun } from './continue-walk.ts';
import { createRealEnvironment, type ExecutionEnvironment, type PauseEnd } from './environment.ts';
import { type CurrentExecution, type LockedExecution, lockExecutions } from './locked-executions.ts';
import { computeNext } from './next.ts';
import { addPath } from './path.ts';
import { endPause } from './pause-end.ts';
import { createPendingWrites, type PendingWrites, savePendingWrites } from './pending-writes.ts';
import { findWaitEvents } from './waits.ts';
import { failExecution, type WalkStop } from './walk.ts';

/** An execution at an effect. `run` is set only for sandboxes and previews. */
export interface EffectPosition<R extends SandboxState | null = SandboxState | null> {
  execution: CurrentExecution & { run: R };
  next: Next & { kind: 'effect' };
  step: GraphStep;
}

/** The functions that perform an effect: one for real executions, one for sandboxes. */
export interface EffectRunners<T> {
  real(effect: EffectPosition<null>): T;
  /** Simulates the effect in a sandbox. Sends nothing, and changes only the execution and its `run`. */
  sandbox(effect: EffectPosition<SandboxState>): T;
}

/**
 * The position of an execution. Only `atEffect` gives access to the step and its data, and it requires a function for
 * each kind of execution. Code without a function for sandboxes therefore does not compile. Without this check, a
 * sandbox could send real messages by mistake.
 */
export class WalkPosition {
  readonly next: Next;
  /** Undefined when the execution's row was deleted. */
  readonly execution: Pick<CurrentExecution, 'id' | 'projectId' | 'workflowId' | 'contactId'> | undefined;
  private readonly effect: EffectPosition | undefined;

  constructor({ next, step }: WalkStop, execution?: CurrentExecution) {
    this.next = next;
    this.execution = execution;
    this.effect = execution && step && next.kind === 'effect' ? { execution, next, step } : undefined;
  }

  /**
   * Performs the effect of an activity with the function for real executions or for sandboxes. Returns undefined if the
   * execution is not at a step of this type, for example after an edit of the workflow. In that case the activity
   * performs nothing and returns the execution's next position.
   */
  atEffect<T>(activity: EffectType, runners: EffectRunners<T>): T | undefined {
    if (this.effect?.next.activity !== activity) return undefined;
    const { execution, ...at } = this.effect;
    const { run } = execution;
    return run === null
      ? runners.real({ ...at, execution: { ...execution, run } })
      : runners.sandbox({ ...at, execution: { ...execution, run } });
  }
}

/** The result for an execution without a row. An activity that gets this result throws `RowMissing`. */
const MISSING: Next = { kind: 'end', status: 'FAILED', reason: null, missing: true };

/**
 * Ends the pauses that the inputs report as over, advances the executions, and returns their positions in the order of
 * the inputs. All executions belong to one project, and each may appear only once. Safe to run again: if an earlier
 * attempt of the activity has already advanced an execution, the function returns its current position. An execution
 * without its contact is cancelled, because no step can run. Earlier releases could start one while the contact was
 * being erased.
 */
export async function resumeExecutions(
  trx: Trx,
  p: { projectId: string; inputs: StepInput[] },
): Promise<WalkPosition[]> {
  const { projectId, inputs } = p;
  const locked = await lockExecutions(trx, { projectId, requested: inputs });
  // Reads from Postgres whether the events of waits have arrived, because a signal to Temporal may be late. An event
  // counts if it was recorded before this transaction handles the deadline.
  const waitEvents = await findWaitEvents(trx, {
    projectId,
    waits: inputs.filter((input) => input.resume === 'event' || input.resume === 'timeout'),
  });
  const deleted = await findDeletedEnds(trx, { projectId, requested: inputs, locked });
  await endErased(trx, { projectId, locked });
  const pending = createPendingWrites();
  const environment = createRealEnvironment(trx);
  const stops: { found?: LockedExecution; stop: WalkStop }[] = [];
  for (const input of inputs) {
    const found = locked.get(input.executionId);
    if (!found) {
      stops.push({ stop: { next: deleted.get(input.executionId) ?? MISSING } });
      continue;
    }
    const event = waitEvents.get(input.executionId);
    const ended = { eventId: event?.id, eventAt: event?.at ?? undefined, tookMs: found.visitAgeMs };
    stops.push({ found, stop: await resumeWalk(environment, found, { input, ended, pending }) });
  }
  await savePendingWrites(trx, { projectId, pending });
  return stops.map(
    ({ found, stop }) => new WalkPosition(found ? addPathToStop(stop, found, pending) : stop, found?.execution),
  );
}

/** Cancels the executions whose contact was erased, as the erasure of the contact would do. */
async function endErased(
  trx: Trx,
  { projectId, locked }: { projectId: string; locked: ReadonlyMap<string, LockedExecution> },
): Promise<void> {
  const erased = [...locked.values()].filter(({ execution, isErased }) => isErased && !execution.completedAt);
  if (erased.length === 0) return;
  const ids = erased.map(({ execution }) => execution.id);
  await eraseExecutions(trx, { projectId, where: sql<boolean>`id = ANY(${ids}::uuid[])`, isOver: true });
  for (const { execution } of erased) Object.assign(execution, { ...ERASED_END, completedAt: new Date() });
}

/** Like `resumeExecutions`, for a single execution. */
export async function resumeExecution(trx: Trx, input: StepInput): Promise<WalkPosition> {
  const [position] = await resumeExecutions(trx, { projectId: input.projectId, inputs: [input] });
  return position ?? new WalkPosition({ next: MISSING });
}

export interface EffectOutcome extends VisitOutcome {
  /** Set if the execution must fail, such as after a WEBHOOK with `onFailure` FAIL. */
  fails?: boolean;
  /** The changes that the effect makes to the state of a sandbox. */
  changes?: RunChanges;
}

/**
 * Closes the visits of effects and continues the walks, in the transaction that records the effects themselves. Returns
 * the next positions in the order of the outcomes. Each execution may appear only once. If a visit has already ended,
 * it does not change, and the execution's current position is returned.
 * @param p.contactsLocked whether the caller's transaction has already locked the contacts
 */
export async function completeEffects(
  trx: Trx,
  p: { projectId: string; outcomes: EffectOutcome[]; contactsLocked?: boolean },
): Promise<Next[]> {
  const { projectId, outcomes, contactsLocked = false } = p;
  const locked = await lockExecutions(trx, { projectId, requested: outcomes, contactsLocked });
  const deleted = await findDeletedEnds(trx, { projectId, requested: outcomes, locked });
  const pending = createPendingWrites();
  const environment = createRealEnvironment(trx);
  const stops: { found?: LockedExecution | undefined; stop: WalkStop }[] = [];
  for (const outcome of outcomes) {
    const found = locked.get(outcome.executionId);
    const missing = { next: deleted.get(outcome.executionId) ?? MISSING };
    stops.push({ found, stop: found ? await completeVisit(environment, found, outcome, pending) : missing });
  }
  await savePendingWrites(trx, { projectId, pending });
  return stops.map(({ found, stop }) => (found ? addPathToStop(stop, found, pending) : stop).next);
}

/**
 * Adds the visits of a walk to its result. Call this function after `savePendingWrites`, which may change the result.
 */
function addPathToStop(stop: WalkStop, { execution, graph }: LockedExecution, pending: PendingWrites): WalkStop {
  return { ...stop, next: addPath(stop.next, { executionId: execution.id, graph, pending }) };
}

/** Like `completeEffects`, for a single execution. */
export async function completeEffect(
  trx: Trx,
  { projectId, ...outcome }: EffectOutcome & { projectId: string },
): Promise<Next> {
  const [next] = await completeEffects(trx, { projectId, outcomes: [outcome] });
  return next ?? MISSING;
}

/**
 * Finds the status and reason with which recently deleted executions ended (table `deleted_rows`). An execution without
 * such a row is absent from the result.
 */
async function findDeletedEnds(
  trx: Trx,
  p: { projectId: string; requested: { executionId: string }[]; locked: Map<string, LockedExecution> },
): Promise<Map<string, Next>> {
  const ids = p.requested.flatMap(({ executionId }) => (p.locked.has(executionId) ? [] : executionId));
  if (ids.length === 0) return new Map();
  const deleted = await findDeletedRows(trx, { projectId: p.projectId, ids });
  return new Map(
    [...deleted].map(([id, { status, reason }]) => [id, { kind: 'end', status: status as ExecutionStatus, reason }]),
  );
}

/**
 * Closes the visit of an effect and continues the walk. Like `walk`, this function collects changes in `pending`, which
 * the caller saves.
 */
export async function completeVisit(
  environment: ExecutionEnvironment,
  locked: LockedExecution,
  outcome: EffectOutcome,
  pending: PendingWrites,
): Promise<WalkStop> {
  const { execution, requested } = locked;
  const isOpen = requested?.status === 'RUNNING' || requested?.status === 'WAITING';
  if (isOpen && execution.run && outcome.changes) {
    applyRunChanges(execution.run, outcome.changes, { at: environment.now(execution), visit: outcome.visit });
    const exit = findExitReasonOfChanges(execution, outcome.changes, environment.now(execution));
    if (exit)
      return endSandboxRun(execution, { visit: outcome.visit, stepId: requested.stepId, reason: exit, pending });
  }
  if (isOpen) pending.closed.push(outcome);
  if (execution.completedAt) return toEndStop(execution);
  if (!isOpen) return getPosition(environment, locked, pending);
  if (outcome.fails) {
    const code = requested.type === 'WEBHOOK' ? 'webhook_failed' : 'invalid_step';
    return failExecution(
      { execution, pending },
      { code, error: outcome.error ?? 'the step failed', stepId: requested.stepId },
    );
  }
  return continueWalk(environment, locked, { visit: requested, pending });
}

/**
 * Ends the current pause if the input reports its end, and returns the execution's position. Like `walk`, this function
 * collects changes in `pending`, which the caller saves. The end of a wait for the sending window is written at once.
 */
export async function resumeWalk(
  environment: ExecutionEnvironment,
  locked: LockedExecution,
  p: { input: Pick<StepInput, 'visit' | 'resume' | 'stepId' | 'dueAt'>; ended: PauseEnd; pending: PendingWrites },
): Promise<WalkStop> {
  const { execution, current } = locked;
  const { input, pending } = p;
  if (execution.completedAt) return toEndStop(execution);
  const { stepId } = input;
  if (stepId !== undefined && input.visit > execution.visit)
    return advanceToWorkflow(environment, locked, { at: { ...input, stepId }, pending });
  const isPauseOver = input.resume !== undefined && execution.visit === input.visit && current?.status === 'WAITING';
  if (isPauseOver && hasSideEffect(current.type)) {
    await environment.endWindowWait(execution, input.visit);
    return getPosition(environment, { ...locked, current: { ...current, status: 'RUNNING', dueAt: null } }, pending);
  }
  return isPauseOver
    ? endPause(environment, locked, { ...p, visit: current, resume: input.resume })
    : getPosition(environment, locked, pending);
}

/** Returns the exit reason if an event that the sandbox's own step caused matches an exit of the workflow. */
function findExitReasonOfChanges(
  { exits }: CurrentExecution,
  { events = [] }: RunChanges,
  now: Date,
): string | undefined {
  return events.map((event) => findExitReason(exits, event, { now })).find((reason) => reason !== undefined);
}

/** Returns the position of an execution at its current visit. */
function getPosition(
  environment: ExecutionEnvironment,
  { execution, graph, current }: LockedExecution,
  pending: PendingWrites,
): WalkStop {
  const step = current && graph.steps.get(current.stepId);
  if (!current || !step) return endAtDeletedStep(execution, pending);
  return { next: environment.withSandboxTimer(execution, step, computeNext(graph, step, current)), step };
}

function toEndStop(execution: CurrentExecution): WalkStop {
  return { next: { kind: 'end', status: execution.status, reason: execution.reason } };
}
