import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEP_TYPES, STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import type { StepSpec } from './workflows.ts';

/** Ids and values that the sample steps refer to. */
export interface Named {
  templateId: string;
  segmentId: string;
  /** Address that WEBHOOK steps call. */
  url: string;
  /** Duration of delays and waits. */
  seconds: number;
}

/** Returns a useful config for each type of step. Tests for all types use these, so they include every new type. */
export function createStepConfigs({ templateId, segmentId, url, seconds }: Named): Record<StepType, StepConfig> {
  const branches = [
    { name: 'a', weight: 1 },
    { name: 'b', weight: 2 },
  ];
  return {
    SEND_EMAIL: { templateId },
    DELAY: { amount: seconds, unit: 'seconds' },
    WAIT_FOR_EVENT: { eventName: 'order', timeout: seconds },
    CONDITION: { field: `segment.${segmentId}`, operator: 'memberOf' },
    WEBHOOK: { url },
    UPDATE_CONTACT: { updates: { plan: 'pro' }, subscribed: false },
    EXIT: { reason: 'done' },
    SEND_SMS: { body: 'Your plan: {{plan}}' },
    SPLIT: { branches },
  };
}

/**
 * Returns a workflow with one step of each type. The steps are in sequence on every branch, and the step that ends the
 * workflow is last.
 */
export function createStepsOfEachType(named: Named): Record<string, StepSpec> {
  const samples = createStepConfigs(named);
  const branchesAt = (type: StepType) => listBranches({ type, config: samples[type] });
  const ends = (type: StepType) => branchesAt(type).length === 0;
  const inOrder = [...STEP_TYPES.filter((type) => !ends(type)), ...STEP_TYPES.filter(ends)];
  const steps = inOrder.map((type, n): [string, StepSpec] => {
    const to = branchesAt(type).map((branch) => [branch, inOrder[n + 1]]);
    return [type, { type, config: samples[type], to: Object.fromEntries(to) }];
  });
  return Object.fromEntries(steps);
}

/** Returns the branches of a step. A step with a single transition has the branch `plain`. */
export function listBranches({ type, config = {} }: Pick<StepSpec, 'type' | 'config'>): string[] {
  const branches = STEPS[type].branches(config);
  const named = branches.filter((branch) => branch !== null);
  return named.length > 0 ? named : branches.map(() => 'plain');
}
