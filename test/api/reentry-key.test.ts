import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const PAUSE = { pause: { type: 'DELAY' as const, config: { amount: 1, unit: 'days' } } };

let api: TestApi;
let people = 0;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

async function buildCartWorkflow(changes: object = {}): Promise<{ id: string; event: string; email: string }> {
  people += 1;
  const event = `cart-${people}`;
  const { id } = await buildWorkflow(api, { eventName: event, steps: PAUSE });
  await expectOk(api.call('PATCH', `/v1/workflows/${id}`, { body: { reentryKey: 'event.cartId', ...changes } }));
  return { id, event, email: `cart-${people}@example.com` };
}

const track = ({ email, event }: { email: string; event: string }, data: object) =>
  expectOk(api.call('POST', '/v1/track', { body: { email, event, data } }));

async function listExecutions(id: string): Promise<{ id: string; status: string; event: { cartId?: unknown } }[]> {
  const { body } = await api.call('GET', `/v1/workflows/${id}/executions`);
  return body.data;
}

const endExecutions = (id: string) =>
  sql`UPDATE executions SET status = 'COMPLETED', completed_at = now() WHERE workflow_id = ${id}`.execute(api.db);

describe('a workflow with reentryKey', () => {
  it('has one open execution for each value, and reports events that start no execution', async () => {
    const workflow = await buildCartWorkflow();
    for (const cartId of ['a', 'b', 'a', 7, '7']) await track(workflow, { cartId });
    const open = await listExecutions(workflow.id);
    expect(open.map(({ event }) => event.cartId).sort()).toEqual(['a', 'b', 7].sort());
    const { body } = await api.call('GET', `/v1/events?eventName=${workflow.event}`);
    const refused = body.data.flatMap((event: { notStarted: object[] }) => event.notStarted);
    const first = open.find(({ event }) => event.cartId === 'a');
    expect(refused).toContainEqual({ workflowId: workflow.id, reason: 'active', executionId: first?.id });
  });

  it('allows one entry per value, and another entry after its end only with allowReentry', async () => {
    const once = await buildCartWorkflow();
    await track(once, { cartId: 'a' });
    await endExecutions(once.id);
    await track(once, { cartId: 'a' });
    await track(once, { cartId: 'b' });
    expect(await listExecutions(once.id)).toHaveLength(2);
    const again = await buildCartWorkflow({ allowReentry: true });
    await track(again, { cartId: 'a' });
    await endExecutions(again.id);
    await track(again, { cartId: 'a' });
    expect(await listExecutions(again.id)).toHaveLength(2);
  });

  it('has one open execution for each contact if the event lacks the value', async () => {
    const workflow = await buildCartWorkflow();
    for (const data of [{}, {}, { cartId: null }, { cartId: 'a' }]) await track(workflow, data);
    expect(await listExecutions(workflow.id)).toHaveLength(2);
  });

  it('can be started by API with a value in the context, and refuses the same value twice', async () => {
    const workflow = await buildCartWorkflow({ reentryKey: 'context.cartId' });
    const { body: contact } = await api.call('POST', '/v1/contacts', { body: { email: workflow.email } });
    const startExecution = (cartId: string) =>
      api.call('POST', `/v1/workflows/${workflow.id}/executions`, {
        body: { contactId: contact.id, context: { cartId } },
      });
    expect((await startExecution('a')).status).toBe(201);
    expect((await startExecution('b')).status).toBe(201);
    const refused = await startExecution('a');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
  });

  it('does not retry a failed execution while another one with its value is open', async () => {
    const workflow = await buildCartWorkflow({ allowReentry: true });
    await track(workflow, { cartId: 'a' });
    await sql`
      UPDATE executions SET status = 'FAILED', completed_at = now() WHERE workflow_id = ${workflow.id}`.execute(api.db);
    const [failed] = await listExecutions(workflow.id);
    await track(workflow, { cartId: 'b' });
    await track(workflow, { cartId: 'a' });
    const retry = await api.call('POST', `/v1/workflows/${workflow.id}/executions/${failed?.id}/retry`);
    expect(retry.status).toBe(409);
  });

  it('accepts a path of the event or the context, and explains how to correct any other path', async () => {
    const { id } = await buildCartWorkflow();
    for (const reentryKey of ['cartId', 'event.', 'data.x', 'event..x', 'event.items[0].sku', 7]) {
      const { status, body } = await api.call('PATCH', `/v1/workflows/${id}`, { body: { reentryKey } });
      expect([status, body.error.errors[0].field]).toEqual([422, 'reentryKey']);
    }
    const { body } = await api.call('PATCH', `/v1/workflows/${id}`, { body: { reentryKey: null } });
    expect(body.reentryKey ?? body.data?.reentryKey ?? null).toBeNull();
    const created = await api.call('POST', '/v1/workflows', {
      body: { name: 'Carts', eventName: 'cart', reentryKey: 'event.cart.id' },
    });
    expect(created.status).toBe(201);
    expect(JSON.stringify(created.body)).toContain('"reentryKey":"event.cart.id"');
  });
});

it('the value of a re-entry key is stored as a hash, and deleted with the contact', async () => {
  const workflow = await buildCartWorkflow();
  await track(workflow, { cartId: 'secret-cart' });
  const readReentryValue = () =>
    api.db.selectFrom('executions').select(['reentry_value']).where('workflow_id', '=', workflow.id).executeTakeFirst();
  expect((await readReentryValue())?.reentry_value).toMatch(/^[0-9a-f-]{36}$/);
  const { body } = await api.call('GET', `/v1/contacts?search=${workflow.email}`);
  await expectOk(api.call('DELETE', `/v1/contacts/${body.data[0].id}`));
  expect((await readReentryValue())?.reentry_value ?? null).toBeNull();
});
