import type { z } from 'zod';
import type { IdField } from '../../as-code/references.ts';

/**
 * A way on that a step takes by what it finds: `yes` or `no`, `event` or `timeout`, or a name that the tenant gave it.
 */
export type Branch = string;

/** What a tenant sets of a step. */
export type StepConfig = Record<string, unknown>;

/** A field of a config that holds secrets: the password in a `url`, each value of `headers`. */
export type SecretField = 'url' | 'headers';

/** A step as the check sees it that comes before a workflow is enabled. */
export interface DrawnStep {
  config: StepConfig;
  templateId: string | null;
  /** Whether the step or its template has a sender on a verified domain. */
  senderReady: boolean;
}

/** What every type of step says of itself. Each answer is required, so that the compiler asks whoever adds a type. */
interface Step {
  /** Reads a config that a caller saves: what it refuses the caller is told, what it yields is stored. */
  input: z.ZodType<object>;
  /** What keeps the step from running, in words that follow its name. What is stored may be half configured. */
  faults(step: DrawnStep): string[];
  /**
   * The branches it leaves by; `null` is the plain transition. A step without a plain one needs each of its branches.
   */
  branches(config: StepConfig): readonly (Branch | null)[];
  /**
   * Where its config names other resources of the project: the fields that hold their ids, or `condition` where all of
   * it is one, whose filters name segments and topics. Files have slugs in these places.
   */
  names: readonly IdField[] | 'condition';
  /** The fields of its config that hold secrets. They are kept sealed, masked in answers and left out of files. */
  secretsIn: readonly SecretField[];
  /**
   * Whether it sends an email, for which it or its template needs a sender on a verified domain. What an email brings
   * about (email.open, email.click …) may be recorded before its step ends, so a wait that comes next looks back to the
   * step's start.
   */
  sendsEmail: boolean;
  /** The path in its config at which a condition stands, whose size is limited; null where it has none. */
  conditionAt: readonly string[] | null;
  /**
   * Whether a config uses this key of the contact's data, by which a field that is in use stays; null where none can.
   */
  usesField: ((config: StepConfig, key: string) => boolean) | null;
  /** Whether a config asks for events of this name; null where none can. */
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
   * How long each visit to it is sure to wait, in milliseconds; Infinity where that cannot be told. An instant that is
   * written down waits once, not each lap.
   */
  sureWaitMs(config: StepConfig): number;
}

/** A step that is walked past, or ends the walk, in the transaction of the step before. */
export interface PassedStep extends Step {
  kind: 'passed';
}

export type StepDefinition = EffectStep<EffectQueue> | PauseStep | PassedStep;

/** The faults of a stored config by its schema. */
export function configFaults(schema: z.ZodType, config: StepConfig): string[] {
  const result = schema.safeParse(config);
  if (result.success) return [];
  return result.error.issues.map((issue) => `is not configured: ${issue.path.join('.')}: ${issue.message}`);
}
