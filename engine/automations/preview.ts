import type { Db } from '../../db/connection.ts';
import type { ExecutionPosition, NewVisit } from '../../db/executions/visits.ts';
import { type Graph, type GraphStep, loadGraph } from '../../db/workflows/graph.ts';
import { getWorkflow } from '../../db/workflows/workflows.ts';
import type { ExecutionStatus, VisitStatus } from '../../rules/executions/execution.ts';
import type { Exits } from '../../rules/executions/exits.ts';
import { createSandboxState, type RunContact, type RunEvent } from '../../rules/executions/run.ts';
import type { EffectType, StepType } from '../../rules/executions/steps/registry.ts';
import type { Filter } from '../../rules/filters/filters.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { explainCondition } from './condition.ts';
import { createPreviewEnvironment, type ExecutionEnvironment } from './environment.ts';
import type { CurrentExecution, LockedExecution } from './locked-executions.ts';
import { createPendingWrites, type PendingWrites } from './pending-writes.ts';
import { completeVisit, type EffectOutcome, type EffectPosition, resumeWalk } from './resume.ts';
import { fillExitVariables } from './variables.ts';
import { type WalkStop, walk } from './walk.ts';

/**
 * The effect that a step would have. A message has its text and `wouldSend`, with a `reason` if it would not be sent. A
 * WEBHOOK has its request. An update has the contact after the change.
 */
export interface ShownEffect {
  channel?: 'email' | 'sms';
  wouldSend?: boolean;
  reason?: string | null;
  to?: string | null;
  from?: string | null;
  subject?: string | null;
  /** The text of an SMS. */
  body?: string;
  request?: { method: string; url: string; body: unknown };
  contact?: Record<string, unknown> | null;
}

/** The predicted effect of a step (`shown`), and the predicted result of the visit (`outcome`). */
export interface PreviewedEffect {
  outcome: Omit<EffectOutcome, 'executionId' | 'visit'>;
  shown: ShownEffect;
  /** When the message's wait for the sending window would end. Undefined if the message would not wait. */
  opensAt?: Date | undefined;
}

/**
 * The functions that preview the effect of each step type. `position.execution.run` has the changes of the contact, and
 * the time by which the preview is ahead of its start.
 */
export type EffectPreviews = Record<
  EffectType,
  (position: EffectPosition, environment: ExecutionEnvironment) => Promise<PreviewedEffect>
>;

/** A step that the contact would reach. */
export interface PreviewedStep {
  stepId: string;
  name: string;
  type: StepType;
  config: Record<string, unknown>;
  status: VisitStatus;
  startedAt: Date;
  completedAt: Date | null;
  dueAt: Date | null;
  branch: string | null;
  output: Record<string, unknown> | null;
  error: string | null;
  /** The filters of a CONDITION; `holds` tells whether the filter matches. */
  filters?: (Filter & { holds: boolean })[];
  /** The effect that the step would have. */
  shown?: ShownEffect;
}

export interface ExecutionPreview {
  /** WAITING if the last step is a WAIT_FOR_EVENT without a deadline, and no event of the request ends the wait. */
  status: ExecutionStatus;
  exitReason: string | null;
  error: string | null;
  startedAt: Date;
  endedAt: Date | null;
  steps: PreviewedStep[];
}

export interface PreviewRequest {
  projectId: string;
  workflowId: string;
  contactId: string;
  /** The complete row of an imaginary contact, for a preview without a stored contact. */
  contact?: RunContact;
  event: Record<string, unknown>;
  context: Record<string, unknown>;
  startAt: Date;
  events: RunEvent[];
  /** The project's time zone. */
  zone: string;
  effects: EffectPreviews;
}

/**
 * Predicts the path of a contact through a workflow, enabled or not, for an execution that would start at `startAt`.
 * The predicted time advances only in pauses. Uses the walk of real executions, but predicts effects instead of
 * performing them. Writes nothing.
 * @throws AppError NOT_FOUND for the workflow
 */
export async function previewExecution(db: Db, p: PreviewRequest): Promise<ExecutionPreview> {
  const { projectId, workflowId } = p;
  const workflow = await getWorkflow(db, { projectId, id: workflowId });
  const { entryStepId } = workflow;
  const graph = await loadGraph(db, { projectId, workflowId });
  const execution = newExecution(p, workflow);
  execution.exits = await fillExitVariables(db, execution, execution.exits);
  const environment = createPreviewEnvironment(db, p.startAt.getTime());
  const preview = new Preview(db, { execution, graph, environment });
  let pending = createPendingWrites();
  let stop: WalkStop | undefined = await walk(environment, { execution, graph, stepId: entryStepId, pending });
  while (stop) {
    await preview.addResults(pending);
    pending = createPendingWrites();
    stop = await preview.continueFrom(stop, p.effects, pending);
  }
  return preview.result();
}

function newExecution(p: PreviewRequest, workflow: Exits & { name: string }): CurrentExecution {
  const { name: workflowName, exitOn, exitWhenUnsubscribed } = workflow;
  const { projectId, workflowId, contactId, event, context, contact, events, startAt, zone } = p;
  return {
    id: uuidv7(),
    projectId,
    workflowId,
    workflowName,
    contactId,
    event,
    context,
    visit: 0,
    laps: null,
    untrusted: false,
    untrustedTrigger: false,
    mode: 'live',
    status: 'RUNNING',
    reason: null,
    completedAt: null,
    startedAt: startAt,
    exits: { exitOn, exitWhenUnsubscribed },
    run: createSandboxState({ skipDelays: true, events: structuredClone(events), zone, ...(contact && { contact }) }),
  };
}

/**
 * A preview in progress. It collects the changes of the previewed walk in memory instead of writing them to Postgres.
 */
class Preview {
  private readonly steps = new Map<number, PreviewedStep>();
  private position: ExecutionPosition | undefined;
  private readonly db: Db;
  private readonly context: { execution: CurrentExecution; graph: Graph; environment: ExecutionEnvironment };

  constructor(db: Db, context: { execution: CurrentExecution; graph: Graph; environment: ExecutionEnvironment }) {
    this.db = db;
    this.context = context;
  }

  /**
   * Ends the pause or effect at which the walk has stopped, and continues the walk. Returns undefined when the
   * execution has ended, or when it waits without a deadline for an event that does not come.
   */
  async continueFrom(stop: WalkStop, effects: EffectPreviews, pending: PendingWrites): Promise<WalkStop | undefined> {
    const { execution, environment } = this.context;
    const { next, step } = stop;
    if (next.kind === 'end' || !step) return undefined;
    const locked = this.toLockedExecution(step);
    if (next.kind !== 'effect') {
      if (next.kind === 'wait' && next.deadlineAt === null) return undefined;
      const input = { visit: next.visit, resume: next.kind === 'delay' ? ('delay' as const) : ('timeout' as const) };
      return resumeWalk(environment, locked, { input, ended: { eventId: undefined, tookMs: 0 }, pending });
    }
    const { outcome, shown, opensAt } = await effects[next.activity]({ execution, next, step }, environment);
    const visited = this.steps.get(next.visit);
    if (visited) Object.assign(visited, { shown, ...(opensAt && { dueAt: opensAt }) });
    return completeVisit(environment, locked, { ...outcome, executionId: execution.id, visit: next.visit }, pending);
  }

  /** Adds the results of a walk to the preview. The predicted time does not advance during a walk. */
  async addResults({ closed, visits, positions }: PendingWrites): Promise<void> {
    const { execution, environment } = this.context;
    const now = environment.now(execution);
    for (const { visit, status, output, error } of closed) {
      const step = this.steps.get(visit);
      if (step) Object.assign(step, { status, completedAt: now, error: error ?? null, ...toPreviewOutput(output) });
    }
    for (const visit of visits) this.steps.set(visit.visit, await this.toPreviewedStep(visit, now));
    this.position = positions.at(-1) ?? this.position;
  }

  result(): ExecutionPreview {
    const { execution, environment } = this.context;
    const { status = 'RUNNING', reason = null, error = null } = this.position ?? {};
    const ended = status !== 'WAITING' && status !== 'RUNNING';
    return {
      status,
      exitReason: reason,
      error,
      startedAt: execution.startedAt,
      endedAt: ended ? environment.now(execution) : null,
      steps: [...this.steps.values()],
    };
  }

  private async toPreviewedStep(
    { stepId, type, status, dueAt, output, error }: NewVisit,
    now: Date,
  ): Promise<PreviewedStep> {
    const { execution, graph } = this.context;
    const step = graph.steps.get(stepId);
    const explained = type === 'CONDITION' && status === 'COMPLETED';
    const held = output?.branch === 'yes';
    return {
      stepId,
      name: step?.name ?? type,
      type,
      config: step?.config ?? {},
      status,
      startedAt: now,
      dueAt: dueAt ?? null,
      error: error ?? null,
      completedAt: status === 'RUNNING' || status === 'WAITING' ? null : now,
      ...toPreviewOutput(output),
      ...(explained && { filters: await explainCondition(this.db, { ...execution, config: step?.config, now, held }) }),
    };
  }

  private toLockedExecution(step: GraphStep): LockedExecution {
    const { execution, graph } = this.context;
    const { visit } = execution;
    const { status = 'RUNNING', startedAt = execution.startedAt, dueAt = null } = this.steps.get(visit) ?? {};
    const current = { visit, stepId: step.id, type: step.type, status, startedAt, dueAt };
    return { execution, graph, isErased: false, requested: current, current, visitAgeMs: 0 };
  }
}

function toPreviewOutput(output: Record<string, unknown> | null | undefined): Pick<PreviewedStep, 'output' | 'branch'> {
  return { output: output ?? null, branch: typeof output?.branch === 'string' ? output.branch : null };
}
