import type { z } from 'zod';
import type { IdField } from '../../as-code/references.ts';

/**
 * The name of an exit of a step with a choice: `yes` or `no`, `event` or `timeout`, or a name that the tenant chose.
 */
export type Branch = string;

/** Settings of a step by the tenant. */
export type StepConfig = Record<string, unknown>;

/** A field of a config with secrets: the password in a `url`, or each value of `headers`. */
export type SecretField = 'url' | 'headers';

/** A step as input of the check that runs before a workflow is enabled. */
export interface DrawnStep {
  config: StepConfig;
  templateId: string | null;
  /** Whether the step or its template has a sender on a verified domain. */
  senderReady: boolean;
}

/**
 * Properties that every type of step must declare. Each is required, so the compiler asks for it when a type is
 * added.
 */
interface Step {
  /** Parses a config that a caller saves: errors go to the caller, the parsed value is stored. */
  input: z.ZodType<object>;
  /**
   * Parses a config whose values were saved before `input` refused them. Null if `input` refuses no value that older
   * versions accepted.
   */
  older: z.ZodType<object> | null;
  /**
   * Returns the reasons that keep the step from running, as text that follows its name. A stored config may be
   * incomplete.
   */
  faults(step: DrawnStep): string[];
  /**
   * The branches of the step; `null` is the plain transition. A step without a plain transition needs a transition for
   * each branch.
   */
  branches(config: StepConfig): readonly (Branch | null)[];
  /**
   * Places in the config that name other resources of the project: the fields that hold their ids, or `condition` if the
   * whole config is a condition, whose filters name segments and topics. Files have slugs in these places.
   */
  names: readonly IdField[] | 'condition';
  /** The fields of its config with secrets. They are sealed in storage, masked in responses and omitted from files. */
  secretsIn: readonly SecretField[];
  /**
   * Whether it sends an email, for which it or its template needs a sender on a verified domain. Events of the email
   * (email.open, email.click …) may be recorded before the step ends, so a wait that follows looks back to the step's
   * start.
   */
  sendsEmail: boolean;
  /** Path of a condition in its config, whose size is limited. Null if the config has none. */
  conditionAt: readonly string[] | null;
  /**
   * Tells whether a config uses this key of the contact's data; a used field cannot be deleted. Null if no config
   * can.
   */
  usesField: ((config: StepConfig, key: string) => boolean) | null;
  /** Tells whether a config uses events with this name. Null if no config can. */
  usesEvent: ((config: StepConfig, eventName: string) => boolean) | null;
}

/** The task queues that run effects. */
export type EffectQueue = 'steps' | 'webhooks';

/** A step with a side effect. An activity type of its own, named as the step type is, runs it on this queue. */
export interface EffectStep<Queue extends EffectQueue> extends Step {
  kind: 'effect';
  queue: Queue;
}

/** A step at which an execution waits. */
export interface PauseStep extends Step {
  kind: 'pause';
  /**
   * Minimum waiting of each visit, in milliseconds. Infinity if it is unknown. A fixed instant waits once, not in
   * each cycle.
   */
  sureWaitMs(config: StepConfig): number;
}

/** A step that an execution passes, or at which it ends, within the transaction of the previous step. */
export interface PassedStep extends Step {
  kind: 'passed';
}

export type StepDefinition = EffectStep<EffectQueue> | PauseStep | PassedStep;

/** Returns the errors of a stored config by its schema. */
export function configFaults(schema: z.ZodType, config: StepConfig): string[] {
  const result = schema.safeParse(config);
  if (result.success) return [];
  return result.error.issues.map((issue) => `is not configured: ${issue.path.join('.')}: ${issue.message}`);
}
