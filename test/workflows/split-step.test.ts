import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const createBranches = (weights: Record<string, number>) => ({
  branches: Object.entries(weights).map(([name, weight]) => ({ name, weight })),
});

const buildSplitWorkflow = (eventName: string, weights: Record<string, number>) =>
  buildWorkflow(api, {
    eventName,
    allowReentry: true,
    steps: {
      split: { type: 'SPLIT', config: createBranches(weights), to: { left: 'l', right: 'r' } },
      l: { type: 'EXIT', config: { reason: 'left' } },
      r: { type: 'EXIT', config: { reason: 'right' } },
    },
  });

/** Starts an execution for a contact. Returns the reason of the EXIT step that it reached. */
async function enterAndReadExit(workflowId: string, event: string, email: string): Promise<string> {
  const { data: tracked } = await expectOk(api.call('POST', '/v1/track', { body: { email, event } }));
  const { data } = await expectOk(api.call('GET', `/workflows/${workflowId}/executions?contactId=${tracked.contact}`));
  const detail = await expectOk(api.call('GET', `/workflows/${workflowId}/executions/${data[0].id}`));
  expect(detail.steps[0]).toMatchObject({ type: 'SPLIT', status: 'COMPLETED', output: { branch: detail.exitReason } });
  return detail.exitReason;
}

describe('a SPLIT step', () => {
  it('sends each contact to the same branch on re-entry, and uses changed weights only for later contacts', async () => {
    const workflow = await buildSplitWorkflow('divided', { left: 1, right: 1 });
    const emails = Array.from({ length: 12 }, (_, n) => `split-${n}@example.com`);
    const first: string[] = [];
    for (const email of emails) first.push(await enterAndReadExit(workflow.id, 'divided', email));
    expect(new Set(first)).toEqual(new Set(['left', 'right']));
    await expectOk(
      api.call('PATCH', `/workflows/${workflow.id}/steps/${workflow.steps.split}`, {
        body: { config: createBranches({ left: 0, right: 1 }) },
      }),
    );
    const again: string[] = [];
    for (const email of emails) again.push(await enterAndReadExit(workflow.id, 'divided', email));
    expect(again).toEqual(first);
    for (let n = 0; n < 6; n++)
      expect(await enterAndReadExit(workflow.id, 'divided', `later-${n}@example.com`)).toBe('right');
  });

  it('is not bound to the branch that a sandbox of the contact took', async () => {
    const workflow = await buildSplitWorkflow('divided-after-sandbox', { left: 1, right: 0 });
    const email = 'split-sandbox@example.com';
    const { id: contactId } = await expectOk(api.call('POST', '/contacts', { body: { email } }));
    const body = { contactId, sandbox: true, context: {} };
    const sandbox = await expectOk(api.call('POST', `/workflows/${workflow.id}/executions`, { body }));
    expect(sandbox.steps[0]).toMatchObject({ output: { branch: 'left' } });
    await expectOk(
      api.call('PATCH', `/workflows/${workflow.id}/steps/${workflow.steps.split}`, {
        body: { config: createBranches({ left: 0, right: 1 }) },
      }),
    );
    expect(await enterAndReadExit(workflow.id, 'divided-after-sandbox', email)).toBe('right');
  });

  it('needs a transition for each of its branches, by name, before the workflow is enabled', async () => {
    const { id, steps } = await buildWorkflow(api, {
      enabled: false,
      steps: {
        split: { type: 'SPLIT', config: createBranches({ left: 1, right: 1 }), to: { left: 'l' } },
        l: { type: 'EXIT' },
      },
    });
    const addTransition = (branch?: string) =>
      api.call('POST', `/workflows/${id}/transitions`, {
        body: { fromStepId: steps.split, toStepId: steps.l, ...(branch && { branch }) },
      });
    for (const wrong of [undefined, 'yes', 'Right']) {
      expect(await addTransition(wrong)).toMatchObject({
        status: 422,
        body: { error: { errors: [{ field: 'branch' }] } },
      });
    }
    const refused = await api.call('PATCH', `/workflows/${id}`, { body: { enabled: true } });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).toContain('has no “right” branch');
    expect((await addTransition('left')).status).toBe(409);
    expect(await expectOk(addTransition('right'))).toMatchObject({ branch: 'right' });
    await expectOk(api.call('PATCH', `/workflows/${id}`, { body: { enabled: true } }));
  });
});
