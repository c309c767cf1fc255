import { expect } from 'vitest';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { CallOptions, CallResult } from '../support/api.ts';

/** Calls a test API or a test service. */
export interface Caller {
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
}

export interface StepSpec {
  type: StepType;
  config?: Record<string, unknown>;
  /** Name of the next step, or the name of the next step for each branch. */
  to?: string | Record<string, string>;
}

export interface BuiltWorkflow {
  id: string;
  /** Step ids by name. */
  steps: Record<string, string>;
}

/** Builds a workflow through the API, as a user would, and enables it. The first step is the entry. */
export async function buildWorkflow(
  api: Caller,
  p: {
    steps: Record<string, StepSpec>;
    eventName?: string;
    allowReentry?: boolean;
    triggerType?: string;
    name?: string;
    enabled?: boolean;
  },
): Promise<BuiltWorkflow> {
  const { steps, enabled = true, eventName = 'signup', ...rest } = p;
  const { id } = await expectOk(api.call('POST', '/workflows', { body: { name: 'Test', eventName, ...rest } }));
  const ids: Record<string, string> = {};
  for (const [name, { type, config }] of Object.entries(steps)) {
    const step = await expectOk(
      api.call('POST', `/workflows/${id}/steps`, { body: { type, name, config: config ?? {} } }),
    );
    ids[name] = step.id;
  }
  for (const [name, { to }] of Object.entries(steps)) {
    const targets = typeof to === 'string' ? { plain: to } : (to ?? {});
    for (const [branch, target] of Object.entries(targets)) {
      const body = { fromStepId: ids[name], toStepId: ids[target], ...(branch !== 'plain' && { branch }) };
      await expectOk(api.call('POST', `/workflows/${id}/transitions`, { body }));
    }
  }
  if (enabled) await expectOk(api.call('PATCH', `/workflows/${id}`, { body: { enabled: true } }));
  return { id, steps: ids };
}

/** Returns the executions of a workflow, newest first, as the API lists them. */
export async function listExecutions(api: Caller, workflowId: string): Promise<CallResult['body'][]> {
  return (await expectOk(api.call('GET', `/workflows/${workflowId}/executions?limit=100`))).data;
}

/** Returns the body of a response. Fails if the response is not a success. */
export async function expectOk(call: Promise<CallResult>): Promise<CallResult['body']> {
  const { status, body } = await call;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}
