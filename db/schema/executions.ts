import type { Generated } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { ExecutionStatus, VisitStatus } from '../../rules/executions/execution.ts';
import type { ExitEvent } from '../../rules/executions/exits.ts';
import type { LoopGuard } from '../../rules/executions/loop-guard.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import type { Branch, StepConfig } from '../../rules/executions/steps/definition.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { TriggerType } from '../../rules/executions/workflow-graph.ts';
import type { GeneratedJson, GeneratedTimestamp, NullableJson, NullableTimestamp, Timestamp } from './columns.ts';

/** Workflows, and the executions of contacts. */
export interface ExecutionsTables {
  workflows: WorkflowsTable;
  workflow_steps: WorkflowStepsTable;
  workflow_transitions: WorkflowTransitionsTable;
  executions: ExecutionsTable;
  execution_steps: ExecutionStepsTable;
  execution_waits: ExecutionWaitsTable;
  step_visit_counts: StepVisitCountsTable;
  timer_seconds: TimerSecondsTable;
}

export interface WorkflowsTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  slug: Generated<string>;
  description: string | null;
  trigger_type: Generated<TriggerType>;
  event_name: string | null;
  enabled: Generated<boolean>;
  allow_reentry: Generated<boolean>;
  /**
   * The path of a value in the event or context that starts an execution, such as `event.cartId`. A contact may have
   * one open execution for each value. Null means that a contact may have one open execution in total.
   */
  reentry_key: string | null;
  entry_step_id: string | null;
  exit_on: NullableJson<ExitEvent[]>;
  exit_when_unsubscribed: Generated<boolean>;
  include_automatic: boolean | null;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface WorkflowStepsTable {
  id: Generated<string>;
  project_id: string;
  workflow_id: string;
  type: StepType;
  name: string;
  slug: Generated<string>;
  config: GeneratedJson<StepConfig>;
  template_id: string | null;
  position: NullableJson<{ x: number; y: number }>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface WorkflowTransitionsTable {
  id: Generated<string>;
  project_id: string;
  workflow_id: string;
  from_step_id: string;
  to_step_id: string;
  branch: Branch | null;
  created_at: GeneratedTimestamp;
}

export interface ExecutionsTable {
  id: Generated<string>;
  project_id: string;
  workflow_id: string;
  contact_id: string;
  /** Number of the contact's entry into the workflow. Null for a sandbox, which does not count as an entry. */
  entry: number | null;
  status: Generated<ExecutionStatus>;
  current_step_id: string | null;
  visit: Generated<number>;
  exit_reason: string | null;
  error: string | null;
  context: GeneratedJson<Record<string, unknown>>;
  event_id: string | null;
  event_name: string | null;
  event: GeneratedJson<Record<string, unknown>>;
  untrusted: Generated<boolean>;
  swayed: Generated<boolean>;
  mode: Generated<KeyMode>;
  laps: NullableJson<LoopGuard>;
  sandbox: Generated<boolean>;
  run: NullableJson<SandboxState>;
  depth: Generated<number>;
  /** Hash of the value of the workflow's `reentryKey`. Null if the workflow has no such key. */
  reentry_value: string | null;
  started_at: GeneratedTimestamp;
  completed_at: NullableTimestamp;
}

export interface ExecutionStepsTable {
  execution_id: string;
  visit: number;
  project_id: string;
  step_id: string;
  type: StepType;
  status: VisitStatus;
  attempts: Generated<number>;
  started_at: GeneratedTimestamp;
  completed_at: NullableTimestamp;
  due_at: NullableTimestamp;
  output: NullableJson<Record<string, unknown>>;
  error: string | null;
}

export interface StepVisitCountsTable {
  step_id: string;
  /** The hour in which the visits started, as the number of hours since 1970. */
  hour: number;
  /** The branch by which the visits left the step. Empty for visits without a branch, such as open visits. */
  branch: string;
  /** The Postgres backend that counted the visits. 0 after the rows of the hour were merged. */
  shard: number;
  project_id: string;
  waiting: number;
  running: number;
  completed: number;
  failed: number;
  skipped: number;
}

export interface ExecutionWaitsTable {
  execution_id: string;
  visit: number;
  project_id: string;
  contact_id: string;
  event_name: string;
  filters: NullableJson;
  since: Timestamp;
  deadline_at: NullableTimestamp;
  event_id: string | null;
  include_automatic: boolean | null;
}

export interface TimerSecondsTable {
  project_id: string;
  second: number;
  booked: number;
  next_second: number | null;
}
