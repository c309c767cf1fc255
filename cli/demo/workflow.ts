import type { TourClient } from './client.ts';

/**
 * A step of a tour's automation. `to` contains the name of the next step for each branch. If the step has only one
 * transition, its branch is `PLAIN`.
 */
export interface StepPlan {
  readonly type: string;
  readonly config: object;
  readonly to?: Readonly<Record<string, string>>;
}

/** The key in `to` for a step with only one transition. The API gets no branch for this transition. */
export const PLAIN = 'plain';

/**
 * Creates a workflow of named steps, with the first step as its entry, and enables the workflow.
 * @returns its id
 */
export async function createWorkflow(
  client: TourClient,
  { name, eventName, steps }: { name: string; eventName: string; steps: Readonly<Record<string, StepPlan>> },
): Promise<string> {
  const { id } = await client.call('POST', '/workflows', { name, eventName });
  const ids: Record<string, string> = {};
  for (const [stepName, { type, config }] of Object.entries(steps)) {
    ids[stepName] = (await client.call('POST', `/workflows/${id}/steps`, { type, name: stepName, config })).id;
  }
  for (const [stepName, { to = {} }] of Object.entries(steps)) {
    for (const [branch, target] of Object.entries(to)) {
      const transition = { fromStepId: ids[stepName], toStepId: ids[target], ...(branch !== PLAIN && { branch }) };
      await client.call('POST', `/workflows/${id}/transitions`, transition);
    }
  }
  await client.call('PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}
