import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const setAvailability = (variantId: string, available: boolean) =>
  service.call('PUT', '/storefront/variants', {
    body: { variants: [{ variantId, productTitle: 'Jumper', title: 'Blue', url: 'https://shop.test/j', available }] },
  });

/** Inserts contacts that wait for a variant, with the rows that `POST /v1/back-in-stock` would insert. */
async function insertWaits(variantId: string, count: number): Promise<void> {
  await sql`
    WITH made AS (
      INSERT INTO contacts (project_id, email, subscribed)
      SELECT ${service.one.id}, 'c' || i || '@' || ${variantId}::text || '.test', false FROM generate_series(1, ${count}::int) i
      RETURNING id
    )
    INSERT INTO back_in_stock_waits (project_id, variant_id, contact_id, after_restock_no)
    SELECT ${service.one.id}, ${variantId}, made.id, v.restock_no FROM made, storefront_variants v
    WHERE v.project_id = ${service.one.id} AND v.variant_id = ${variantId}
  `.execute(service.db);
}

/** Returns how often each contact was notified that the variant is back in stock. */
async function countNotified(variantId: string): Promise<{ contacts: number; events: number }> {
  const { rows } = await sql<{ contacts: number; events: number }>`
    SELECT count(DISTINCT contact_id)::int AS contacts, count(*)::int AS events FROM events
    WHERE project_id = ${service.one.id} AND name = 'shopify.back_in_stock' AND data ->> 'variantId' = ${variantId}
  `.execute(service.db);
  return rows[0] ?? { contacts: 0, events: 0 };
}

async function countWaits(variantId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM back_in_stock_waits WHERE variant_id = ${variantId}
  `.execute(service.db);
  return rows[0]?.n ?? 0;
}

it('a restock notifies its subscribers and starts an automation', async () => {
  await setAvailability('2', false);
  const workflow = (
    await service.call('POST', '/workflows', { body: { name: 'w', eventName: 'shopify.back_in_stock' } })
  ).body;
  const config = { updates: { heard: '{{event.productTitle}} {{event.title}}' } };
  await service.call('POST', `/workflows/${workflow.id}/steps`, {
    body: { type: 'UPDATE_CONTACT', name: 'note', config },
  });
  await service.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
  const subscribing = await service.call('POST', '/v1/back-in-stock', {
    key: service.one.publicKey,
    body: { email: 'ada@shop.test', storefrontVariantId: 'gid://shopify/ProductVariant/2' },
  });
  expect(subscribing).toMatchObject({ status: 202, body: { subscribed: true } });
  await setAvailability('2', true);
  const contact = await until(async () => {
    const { body } = await service.call('GET', '/contacts?search=ada@shop.test');
    return body.data[0]?.data.heard && body.data[0];
  }, 'the update');
  expect(contact).toMatchObject({ subscribed: false, data: { heard: 'Jumper Blue' } });
  const { body } = await service.call('GET', '/events?eventName=shopify.back_in_stock&limit=1');
  expect(body.data[0]).toMatchObject({
    contactId: contact.id,
    data: { variantId: '2', productTitle: 'Jumper', title: 'Blue', url: 'https://shop.test/j' },
  });
});

it('a late restock job notifies contacts that waited for its restock, but not contacts that wait for the next one', async () => {
  await setAvailability('3', false);
  await insertWaits('3', 10);
  await service.stopWorker();
  await setAvailability('3', true);
  await setAvailability('3', false);
  const email = 'later@shop.test';
  await service.call('POST', '/v1/back-in-stock', { body: { email, storefrontVariantId: '3' } });
  await service.startWorker();
  await until(async () => (await countNotified('3')).events === 10, 'ten events');
  expect(await countWaits('3')).toBe(1);
  await setAvailability('3', true);
  await until(async () => (await countWaits('3')) === 0, 'the next restock');
  expect(await countNotified('3')).toEqual({ contacts: 11, events: 11 });
});
