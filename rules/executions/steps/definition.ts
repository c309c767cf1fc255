import type { z } from 'zod';
import type { IdField } from '../../as-code/references.ts';

/**
 * The name of a branch of a step with several transitions: `yes` or `no`, `event` or `timeout`, or a name that the
 * tenant chose.
 */
export type Branch = string;

/** The settings of a step, which the tenant chooses. */
export type StepConfig = Record<string, unknown>;

/** A field of a config that contains secrets: the password in `url`, or each value of `headers`. */
export type SecretField = 'url' | 'headers';

/** A step in a graph, for the check that runs before a workflow is enabled. */
export interface UncheckedStep {
  config: StepConfig;
  templateId: string | null;
  /** True if the step or its template has a sender on a verified domain. */
  senderReady: boolean;
}

/**
 * The properties that every type of step must declare. All are required, so the compiler reports a property that a new
 * type lacks.
 */
interface Step {
  /**
   * Parses a config that a caller saves. Errors in the config are returned to the caller, and the parsed value is
   * stored.
   */
  input: z.ZodType<object>;
  /**
   * Parses a stored config with values that `input` refuses today, but that older versions accepted. Null if there are
   * no such values.
   */
  older: z.ZodType<object> | null;
  /**
   * Returns the problems that prevent the step from running. Each is a text that follows the name of the step. A stored
   * config may be incomplete.
   */
  faults(step: UncheckedStep): string[];
  /**
   * Returns the branches of the step. `null` is the transition without a branch. A step that has no such transition
   * needs a transition for each branch.
   */
  branches(config: StepConfig): readonly (Branch | null)[];
  /**
   * The fields of the config with ids of other resources of the project. `condition` means that the whole config is a
   * condition, whose filters contain ids of segments and topics. Files contain slugs instead of these ids.
   */
  names: readonly IdField[] | 'condition';
  /**
   * The fields of the config with secrets. The secrets are sealed in the database, masked in responses, and omitted
   * from files.
   */
  secretsIn: readonly SecretField[];
  /**
   * True if the step sends an email. The step or its template then needs a sender on a verified domain. Events of the
   * email, such as email.open, may be recorded before the step ends. A wait after the step therefore also counts events
   * since the start of the step.
   */
  sendsEmail: boolean;
  /** The path of a condition in the config, to check the size of the condition. Null if the config has no condition. */
  conditionAt: readonly string[] | null;
  /**
   * Tells whether a config uses a key of the contact's data. A field that is used cannot be deleted. Null if no config
   * of this type can use such a key.
   */
  usesField: ((config: StepConfig, key: string) => boolean) | null;
  /** Tells whether a config uses events with a name. Null if no config of this type can use events. */
  usesEvent: ((config: StepConfig, eventName: string) => boolean) | null;
}

/** The task queues that run effects. */
export type EffectQueue = 'steps' | 'webhooks';

/**
 * A step with a side effect. An activity type with the same name as the step type runs the effect, on this task queue.
 */
export interface EffectStep<Queue extends EffectQueue> extends Step {
  kind: 'effect';
  queue: Queue;
}

/** A step at which an execution pauses. */
export interface PauseStep extends Step {
  kind: 'pause';
  /**
   * Returns the minimum time that each visit waits, in milliseconds. Infinity if the time is unknown. A fixed instant
   * counts as 0, because only the first visit waits for it.
   */
  minWaitMs(config: StepConfig): number;
}

/**
 * A step without an effect or a pause. An execution passes this step, or ends at it, in the transaction of the previous
 * step.
 */
export interface PassedStep extends Step {
  kind: 'passed';
}

export type StepDefinition = EffectStep<EffectQueue> | PauseStep | PassedStep;

/** Returns the errors in a stored config, by a schema. */
export function findConfigErrors(schema: z.ZodType, config: StepConfig): string[] {
  const result = schema.safeParse(config);
  if (result.success) return [];
  return result.error.issues.map((issue) => `is not configured: ${issue.path.join('.')}: ${issue.message}`);
}
