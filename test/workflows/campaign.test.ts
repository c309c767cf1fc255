import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildContacts, campaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestService, type TestService, until } from '../support/service.ts';
import { type SinkProcess, startSinkProcess } from '../support/sink-process.ts';

let service: TestService;
let sink: SinkProcess;

beforeAll(async () => {
  sink = await startSinkProcess();
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test' });
});

afterAll(async () => {
  await service?.close();
  await sink?.stop();
});

async function create(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await service.call('POST', '/campaigns', { body: campaignBody(changes) });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.id;
}

async function ended(id: string) {
  return until(async () => {
    const { body } = await service.call('GET', `/campaigns/${id}`);
    return ['SENT', 'CANCELLED', 'DRAFT'].includes(body.status) ? body : undefined;
  }, 'the end of the campaign');
}

describe('a campaign over SMTP', () => {
  test('reaches every subscribed contact once, and is SENT', async () => {
    await buildContacts(service.db, { projectId: service.one.id, count: 600 });
    const id = await create();
    const sent = await service.call('POST', `/campaigns/${id}/send`, { body: {} });
    expect(sent.status).toBe(200);
    expect(sent.body).toMatchObject({ success: true, data: { status: 'SENDING' } });
    const campaign = await ended(id);
    expect(campaign).toMatchObject({ status: 'SENT', totalRecipients: 600, sentCount: 600, pendingCount: 0 });
    const got = await sink.recipients();
    expect(Object.keys(got)).toHaveLength(600);
    expect(Object.values(got).every((times) => times === 1)).toBe(true);
    const { rows } = await sql`SELECT FROM events WHERE name = 'email.sent'`.execute(service.db);
    expect(rows).toHaveLength(600);
  });
});
