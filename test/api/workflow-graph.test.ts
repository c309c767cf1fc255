import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, type StepSpec } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Drawn {
  version: string;
  entryStepId: string | null;
  steps: { id: string; type: string; name?: string; config?: object; position?: { x: number; y: number } | null }[];
  transitions: { fromStepId: string; toStepId: string; branch?: string | null }[];
}

const DAY: StepSpec = { type: 'DELAY', config: { amount: 1, unit: 'days' } };
const readWorkflow = (id: string) => expectOk(api.call('GET', `/workflows/${id}`));
const saveGraph = (id: string, body: object) => api.call('PUT', `/workflows/${id}/graph`, { body });
const getErrors = (response: { body: { error: { errors: { field: string }[] } } }) => response.body.error.errors;

const buildGraph = (steps: Record<string, StepSpec>, enabled = false): Promise<BuiltWorkflow> =>
  buildWorkflow(api, { steps, enabled });

/** Returns the response of `GET` as a body for saving. */
async function readGraph({ id }: BuiltWorkflow): Promise<Drawn> {
  const { version, entryStepId, steps, transitions } = await readWorkflow(id);
  return { version, entryStepId, steps, transitions };
}

describe('saving a whole workflow graph', () => {
  it('adds, changes and removes steps and replaces transitions at once', async () => {
    const workflow = await buildGraph({
      pause: { ...DAY, to: 'gone' },
      gone: { ...DAY, to: 'end' },
      end: { type: 'EXIT' },
    });
    const { pause = '', end = '' } = workflow.steps;
    const { version } = await readGraph(workflow);
    const response = await expectOk(
      saveGraph(workflow.id, {
        version,
        entryStepId: 'first',
        steps: [
          { id: 'first', type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
          { id: pause, type: 'DELAY', name: 'Two days', config: { amount: 2, unit: 'days' }, position: { x: 1, y: 2 } },
          { id: end, type: 'EXIT', config: {} },
        ],
        transitions: [
          { fromStepId: 'first', toStepId: pause, branch: 'yes' },
          { fromStepId: 'first', toStepId: end, branch: 'no' },
          { fromStepId: pause, toStepId: end },
        ],
      }),
    );
    const { first } = response.ids;
    expect(response).toMatchObject({ faults: [], dryRun: false, workflow: { entryStepId: first } });
    const now = await readWorkflow(workflow.id);
    expect(response.workflow).toEqual(now);
    expect(now.steps.map((step: { id: string }) => step.id).sort()).toEqual([first, pause, end].sort());
    expect(now.steps).toContainEqual(
      expect.objectContaining({
        id: pause,
        name: 'Two days',
        position: { x: 1, y: 2 },
        config: { amount: 2, unit: 'days' },
      }),
    );
    const pairs = now.transitions.map((t: Drawn['transitions'][number]) => [t.fromStepId, t.toStepId, t.branch]);
    expect(pairs.sort()).toEqual(
      [
        [first, pause, 'yes'],
        [first, end, 'no'],
        [pause, end, null],
      ].sort(),
    );
  });

  it('changes nothing if the graph is unchanged, although its secrets are masked', async () => {
    const headers = { Authorization: 'Bearer very-secret-token' };
    const workflow = await buildGraph({
      hook: { type: 'WEBHOOK', config: { url: 'https://hooks.example.com/x', headers }, to: 'end' },
      end: { type: 'EXIT' },
    });
    const before = await readWorkflow(workflow.id);
    const saved = await expectOk(saveGraph(workflow.id, await readGraph(workflow)));
    expect(saved.workflow).toEqual({ ...before, updatedAt: expect.any(String) });
    expect(JSON.stringify(saved)).not.toContain('very-secret-token');
  });

  it('is refused after any change by another user', async () => {
    const workflow = await buildGraph({ pause: { ...DAY, to: 'end' }, end: { type: 'EXIT' } });
    const graph = await readGraph(workflow);
    const step = `/workflows/${workflow.id}/steps/${workflow.steps.pause}`;
    await expectOk(api.call('PATCH', step, { body: { config: { amount: 3, unit: 'days' } } }));
    const { version } = await readWorkflow(workflow.id);
    expect(await saveGraph(workflow.id, graph)).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { version } } },
    });
    const other = await readGraph(workflow);
    await expectOk(
      api.call(
        'DELETE',
        `/workflows/${workflow.id}/transitions/${(await readWorkflow(workflow.id)).transitions[0].id}`,
      ),
    );
    expect((await saveGraph(workflow.id, other)).status).toBe(409);
    const last = await readGraph(workflow);
    await expectOk(saveGraph(workflow.id, { ...last, transitions: [] }));
  });

  it('is refused as a whole, with every error at its step, and saves no part of it', async () => {
    const workflow = await buildGraph({ pause: { ...DAY, to: 'end' }, end: { type: 'EXIT' } });
    const graph = await readGraph(workflow);
    const { pause = '', end = '' } = workflow.steps;
    const steps = [
      { id: pause, type: 'DELAY', config: { amount: 0, unit: 'days' } },
      { id: 'mail', type: 'SEND_EMAIL', config: { templateId: '0190a000-0000-7000-8000-000000000009' } },
      { id: 'stranger', type: 'SEND_EMAIL', config: { templateId: null, from: 'me@elsewhere.test' } },
      { id: 'fine', type: 'DELAY', config: { amount: 1, unit: 'days' } },
      { id: end, type: 'DELAY', config: { amount: 1, unit: 'days' } },
    ];
    const response = await saveGraph(workflow.id, { ...graph, steps, entryStepId: 'fine', transitions: [] });
    expect(response.status).toBe(422);
    const fields = getErrors(response).map(({ field }) => field);
    expect(fields).toContain(`steps.${pause}.config.amount`);
    expect(fields).toContain('steps.mail.config.templateId');
    expect(fields.some((field) => field.startsWith('steps.stranger.config.'))).toBe(true);
    expect(fields).toContain(`steps.${end}.type`);
    expect(fields.some((field) => field.startsWith('steps.fine'))).toBe(false);
    expect(await readGraph(workflow)).toEqual(graph);
  });

  it('is refused with every reference to a missing step and every repeated id, beside the errors of the steps', async () => {
    const workflow = await buildGraph({ pause: { ...DAY, to: 'end' }, end: { type: 'EXIT' } });
    const graph = await readGraph(workflow);
    const { pause = '', end = '' } = workflow.steps;
    const references = {
      entryStepId: 'lost',
      transitions: [
        { fromStepId: pause, toStepId: 'lost' },
        { fromStepId: 'gone', toStepId: end },
      ],
    };
    const readFields = async (steps: object[]) => {
      const response = await saveGraph(workflow.id, { ...graph, steps, ...references });
      expect(response.status).toBe(422);
      return getErrors(response).map(({ field }) => field);
    };
    const missing = ['transitions.0.toStepId', 'transitions.1.fromStepId', 'entryStepId'];
    const wrong = { id: pause, type: 'DELAY', config: { amount: 0, unit: 'days' } };
    const exit = { id: end, type: 'EXIT', config: {} };
    expect(await readFields([wrong, exit])).toEqual([...missing, `steps.${pause}.config.amount`]);
    expect(await readFields([wrong, wrong, exit, exit])).toEqual([...missing, `steps.${pause}`, `steps.${end}`]);
    expect(await readGraph(workflow)).toEqual(graph);
  });

  it('is refused at a transition whose branch the step does not have, or no longer has', async () => {
    const createSplitConfig = (names: string[]) => ({ branches: names.map((name) => ({ name, weight: 1 })) });
    const workflow = await buildGraph({
      split: { type: 'SPLIT', config: createSplitConfig(['a', 'b']), to: { a: 'end', b: 'end' } },
      end: { type: 'EXIT' },
    });
    const graph = await readGraph(workflow);
    const b = graph.transitions.findIndex(({ branch }) => branch === 'b');
    const steps = graph.steps.map((step) =>
      step.type === 'SPLIT' ? { ...step, config: createSplitConfig(['a', 'c']) } : step,
    );
    expect(getErrors(await saveGraph(workflow.id, { ...graph, steps })).map(({ field }) => field)).toEqual([
      `transitions.${b}.branch`,
    ]);
    const [first] = graph.transitions;
    const doubled = [...graph.transitions, { ...first, toStepId: workflow.steps.split ?? '' }];
    expect(
      getErrors(await saveGraph(workflow.id, { ...graph, transitions: doubled })).map(({ field }) => field),
    ).toEqual(['transitions.2.branch']);
    const lost = [{ fromStepId: 'nobody', toStepId: 'nobody' }];
    expect((await saveGraph(workflow.id, { ...graph, transitions: lost })).status).toBe(422);
  });

  it('requires a graph that can run if the workflow is enabled; for a disabled one the response says what prevents it', async () => {
    const workflow = await buildGraph({ pause: { ...DAY, to: 'end' }, end: { type: 'EXIT' } }, true);
    const graph = await readGraph(workflow);
    const alone = { ...graph, steps: [...graph.steps, { id: 'alone', type: 'DELAY', config: DAY.config }] };
    const response = await saveGraph(workflow.id, alone);
    expect(response.status).toBe(422);
    expect(getErrors(response).map(({ field }) => field)).toEqual(['steps.alone']);
    await expectOk(api.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: false } }));
    expect(await expectOk(saveGraph(workflow.id, alone))).toMatchObject({ faults: [{ field: 'steps.alone' }] });
  });

  it('checks but saves nothing in a dry run', async () => {
    const workflow = await buildGraph({ pause: { ...DAY, to: 'end' }, end: { type: 'EXIT' } });
    const graph = await readGraph(workflow);
    const response = await expectOk(
      saveGraph(workflow.id, { ...graph, steps: [], transitions: [], entryStepId: null, dryRun: true }),
    );
    expect(response).toMatchObject({ dryRun: true, faults: [{ field: 'steps' }] });
    expect(await readGraph(workflow)).toEqual(graph);
  });

  it('accepts only steps of its own workflow, in its own project', async () => {
    const workflow = await buildGraph({ pause: { ...DAY, to: 'end' }, end: { type: 'EXIT' } });
    const graph = await readGraph(workflow);
    const body = { ...graph, transitions: [] };
    const theirs = await api.call('PUT', `/workflows/${workflow.id}/graph`, { body, key: api.two.secretKey });
    expect(theirs.status).toBe(404);
    const other = await buildGraph({ only: DAY });
    const stolen = (await readGraph(other)).steps.map(({ id, type, config }) => ({ id, type, config }));
    const response = await expectOk(saveGraph(workflow.id, { ...graph, steps: [...graph.steps, ...stolen] }));
    // In a saved graph, an id of another workflow's step is only a new name.
    expect(Object.keys(response.ids)).toEqual([other.steps.only]);
    expect((await readWorkflow(other.id)).steps).toHaveLength(1);
  });

  it('accepts only senders on verified domains', async () => {
    const projectId = api.one.id;
    await buildDomain(api.db, { projectId });
    const templateId = await buildTemplate(api.db, { projectId });
    const workflow = await buildGraph({ end: { type: 'EXIT' } });
    const graph = await readGraph(workflow);
    const email = { id: 'mail', type: 'SEND_EMAIL', config: { templateId, from: 'me@elsewhere.test' } };
    const response = await saveGraph(workflow.id, { ...graph, steps: [email, ...graph.steps] });
    expect(getErrors(response)).toEqual([
      { field: 'steps.mail.config.from', code: 'domain_not_verified', message: expect.any(String) },
    ]);
  });
});
