import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEP_TYPES, STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import type { StepSpec } from './workflows.ts';

/** What samples name. */
export interface Named {
  templateId: string;
  segmentId: string;
  /** Of an endpoint. */
  url: string;
  /** How long they wait. */
  seconds: number;
}

/**
 * A config of each type of step, that does what steps of its type are for. Tests that hold for every type go by these:
 * a new one is in all of them.
 */
export function stepSamples({ templateId, segmentId, url, seconds }: Named): Record<StepType, StepConfig> {
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

/** A workflow of one step of each type, one after the other whatever branch is taken; what ends it comes last. */
export function stepOfEachType(named: Named): Record<string, StepSpec> {
  const samples = stepSamples(named);
  const branchesAt = (type: StepType) => branchesOf({ type, config: samples[type] });
  const ends = (type: StepType) => branchesAt(type).length === 0;
  const inOrder = [...STEP_TYPES.filter((type) => !ends(type)), ...STEP_TYPES.filter(ends)];
  const steps = inOrder.map((type, n): [string, StepSpec] => {
    const to = branchesAt(type).map((branch) => [branch, inOrder[n + 1]]);
    return [type, { type, config: samples[type], to: Object.fromEntries(to) }];
  });
  return Object.fromEntries(steps);
}

/** The branches by which a step is left, `plain` where it has no choice. */
export function branchesOf({ type, config = {} }: Pick<StepSpec, 'type' | 'config'>): string[] {
  const branches = STEPS[type].branches(config);
  const named = branches.filter((branch) => branch !== null);
  return named.length > 0 ? named : branches.map(() => 'plain');
}
