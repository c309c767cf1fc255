import { afterAll, beforeAll, expect, it } from 'vitest';
import { saveGraph } from '../../api/routes/workflow-graph/save.ts';
import { buildTemplate } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let templateId: string;
beforeAll(async () => {
  api = await startTestApi();
  templateId = await buildTemplate(api.db, { projectId: api.one.id });
});
afterAll(() => api?.close());

/** Returns a chain of new email steps and delays. The email steps have the same name. */
const createChain = (length: number) => ({
  entryStepId: 'n0',
  steps: Array.from({ length }, (_, n) => ({
    id: `n${n}`,
    name: 'Step',
    ...(n % 2 === 0
      ? { type: 'SEND_EMAIL' as const, config: { templateId } }
      : { type: 'DELAY' as const, config: { amount: 1, unit: 'days' } }),
  })),
  transitions: Array.from({ length: length - 1 }, (_, n) => ({ fromStepId: `n${n}`, toStepId: `n${n + 1}` })),
});

it('saving a graph takes as many statements with 100 steps as with 2, if steps are added, moved, changed or removed', async () => {
  const countStatements = async (length: number) => {
    const { id, version } = await expectOk(api.call('POST', '/workflows', { body: { name: 'Long', eventName: 'e' } }));
    let statements = 0;
    const db = api.db.withPlugin({
      transformQuery({ node }) {
        statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const saveAndCount = async (graph: Omit<Parameters<typeof saveGraph>[1]['graph'], 'dryRun'>) => {
      statements = 0;
      const p = { projectId: api.one.id, workflowId: id, secretKey: api.deps.config.secretKey, allowPrivate: false };
      const { workflow } = await saveGraph(db, { ...p, graph: { ...graph, dryRun: false } });
      const { entryStepId, steps, transitions } = await expectOk(api.call('GET', `/workflows/${id}`));
      const next = (await expectOk(api.call('GET', `/workflows/${id}`))).version;
      return { statements, workflow, graph: { version: next, entryStepId, steps, transitions } };
    };
    const added = await saveAndCount({ version, ...createChain(length) });
    expect(new Set(added.workflow.steps.map(({ slug }) => slug)).size).toBe(length);
    const moved = await saveAndCount({
      ...added.graph,
      steps: added.graph.steps.map((step: object) => ({ ...step, position: { x: 1, y: 2 } })),
    });
    const changed = await saveAndCount({
      ...moved.graph,
      steps: moved.graph.steps.map((step: { type: string; config: object }) =>
        step.type === 'DELAY' ? { ...step, config: { amount: 2, unit: 'days' } } : step,
      ),
    });
    expect(changed.workflow.steps.filter(({ config }) => config.amount === 2)).toHaveLength(length / 2);
    const removed = await saveAndCount({ ...changed.graph, entryStepId: null, steps: [], transitions: [] });
    expect(removed.workflow.steps).toEqual([]);
    return [added, moved, changed, removed].map((saved) => saved.statements);
  };
  expect(await countStatements(100)).toEqual(await countStatements(2));
});
