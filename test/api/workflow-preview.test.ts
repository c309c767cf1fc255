import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STEP_TYPES } from '../../rules/executions/steps/registry.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { createStepsOfEachType } from '../build/step-samples.ts';
import { buildWorkflow, expectOk, type StepSpec } from '../build/workflows.ts';
import { buildApiKey, startTestApi, type TestApi } from '../support/api.ts';
import { readRowsWrittenByRequests } from '../support/rows.ts';

const DAY_MS = 86_400_000;
const START = '2026-12-01T09:00:00.000Z';

let api: TestApi;
let plain: string;
let marketing: string;

beforeAll(async () => {
  api = await startTestApi();
  const projectId = api.one.id;
  await buildDomain(api.db, { projectId });
  plain = await buildTemplate(api.db, { projectId, subject: 'Your plan: {{plan}}' });
  marketing = await buildTemplate(api.db, { projectId, type: 'MARKETING', subject: 'News for {{name}}' });
});

afterAll(async () => {
  await api?.close();
});

const buildDisabledWorkflow = (steps: Record<string, StepSpec>) => buildWorkflow(api, { enabled: false, steps });
const previewWorkflow = (id: string, body: Record<string, unknown>) =>
  expectOk(api.call('POST', `/workflows/${id}/preview`, { body: { startAt: START, ...body } }));
const createContact = async (email: string, rest: Record<string, unknown> = {}) =>
  (await expectOk(api.call('POST', '/contacts', { body: { email, subscribed: true, ...rest } }))).id;
const getTimeAfterStart = (ms: number) => new Date(Date.parse(START) + ms).toISOString();
const createWaitStep = (eventName: string, to: StepSpec['to']): StepSpec => ({
  type: 'WAIT_FOR_EVENT',
  config: { eventName, timeout: 3_600 },
  ...(to !== undefined && { to }),
});

describe('the preview of a workflow', () => {
  it('shows the time, condition and subject of each step, and changes nothing', async () => {
    const workflow = await buildDisabledWorkflow({
      pause: { type: 'DELAY', config: { amount: 3, unit: 'days' }, to: 'update' },
      update: {
        type: 'UPDATE_CONTACT',
        config: { updates: { plan: '{{event.plan}}' }, subscribed: false },
        to: 'isPro',
      },
      isPro: {
        type: 'CONDITION',
        config: { field: 'data.plan', operator: 'equals', value: 'pro' },
        to: { yes: 'mail', no: 'end' },
      },
      mail: { type: 'SEND_EMAIL', config: { templateId: plain }, to: 'left' },
      left: createWaitStep('order', { event: 'end', timeout: 'sent' }),
      sent: {
        type: 'CONDITION',
        config: { field: 'event.email.sent', operator: 'triggeredWithin', value: 2, unit: 'hours' },
        to: { yes: 'news', no: 'end' },
      },
      news: { type: 'SEND_EMAIL', config: { templateId: marketing }, to: 'hook' },
      hook: { type: 'WEBHOOK', config: { url: 'https://hooks.example.com/{{plan}}?x=1' }, to: 'end' },
      end: { type: 'EXIT', config: { reason: 'done' } },
    });
    const contactId = await createContact('seen@example.com', { data: { plan: 'free', name: 'Ada' } });
    const before = await readRowsWrittenByRequests(api.db);
    const response = await previewWorkflow(workflow.id, { contactId, event: { plan: 'pro' } });
    expect(await readRowsWrittenByRequests(api.db)).toEqual(before);
    const [third, hour] = [getTimeAfterStart(3 * DAY_MS), getTimeAfterStart(3 * DAY_MS + 3_600_000)];
    expect(response).toMatchObject({
      status: 'EXITED',
      exitReason: 'done',
      startedAt: START,
      endedAt: hour,
      contactId,
    });
    expect(response.steps).toMatchObject([
      { stepId: workflow.steps.pause, name: 'pause', type: 'DELAY', at: START, dueAt: third, completedAt: third },
      { name: 'update', at: third, contact: { subscribed: false, data: { plan: 'pro', name: 'Ada' } } },
      {
        name: 'isPro',
        branch: 'yes',
        condition: { groups: [{ filters: [{ field: 'data.plan', value: 'pro' }] }] },
        filters: [{ field: 'data.plan', operator: 'equals', value: 'pro', holds: true }],
      },
      {
        name: 'mail',
        at: third,
        status: 'COMPLETED',
        wouldSend: true,
        subject: 'Your plan: pro',
        to: 'seen@example.com',
      },
      { name: 'left', at: third, completedAt: hour, branch: 'timeout' },
      { name: 'sent', branch: 'yes' },
      { name: 'news', at: hour, status: 'SKIPPED', wouldSend: false, reason: 'unsubscribed', subject: 'News for Ada' },
      {
        name: 'hook',
        output: { statusCode: 200 },
        request: {
          method: 'POST',
          url: 'https://hooks.example.com/pro?x=1',
          body: { contact: { email: 'seen@example.com' } },
        },
      },
      { name: 'end', type: 'EXIT', at: hour },
    ]);
  });

  it('changes nothing, with any type of step', async () => {
    const { id: segmentId } = await expectOk(
      api.call('POST', '/segments', { body: { name: 'Members', type: 'STATIC' } }),
    );
    const named = { templateId: plain, segmentId, url: 'https://hooks.example.com', seconds: 3_600 };
    const workflow = await buildDisabledWorkflow(createStepsOfEachType(named));
    const contactId = await createContact('each@example.com', { data: { plan: 'free', phone: '+14155550123' } });
    const before = await readRowsWrittenByRequests(api.db);
    const response = await previewWorkflow(workflow.id, { contactId });
    expect(await readRowsWrittenByRequests(api.db)).toEqual(before);
    expect(response).toMatchObject({ status: 'EXITED', exitReason: 'done' });
    expect(response.steps).toHaveLength(STEP_TYPES.length);
  });

  it('ends waits when the simulated events arrive, at their times', async () => {
    const workflow = await buildDisabledWorkflow({
      first: createWaitStep('order', { event: 'second', timeout: 'late' }),
      second: { type: 'WAIT_FOR_EVENT', config: { eventName: 'order' }, to: { event: 'third' } },
      third: { type: 'WAIT_FOR_EVENT', config: { eventName: 'order' } },
      late: { type: 'EXIT', config: { reason: 'late' } },
    });
    const contactId = await createContact('waits@example.com');
    const events = [
      { name: 'order', at: getTimeAfterStart(DAY_MS) },
      { name: 'order', at: getTimeAfterStart(60_000), data: { total: 1 } },
    ];
    const response = await previewWorkflow(workflow.id, { contactId, events });
    expect(response).toMatchObject({ status: 'WAITING', endedAt: null });
    expect(response.steps).toMatchObject([
      { name: 'first', branch: 'event', completedAt: getTimeAfterStart(60_000) },
      { name: 'second', branch: 'event', at: getTimeAfterStart(60_000), completedAt: getTimeAfterStart(DAY_MS) },
      { name: 'third', status: 'WAITING', completedAt: null, dueAt: null },
    ]);
    expect(await previewWorkflow(workflow.id, { contactId })).toMatchObject({ exitReason: 'late' });
    expect(
      await previewWorkflow(workflow.id, {
        contactId,
        events: [{ name: 'order' }, { name: 'order' }, { name: 'order' }],
      }),
    ).toMatchObject({ status: 'COMPLETED', endedAt: START });
  });

  it("reads a time without an offset in the project's zone, in filters of waits and of exits", async () => {
    const since = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'event.at', operator: 'greaterThan', value: '2026-12-01T12:00:00' }] }],
    };
    const workflow = await buildDisabledWorkflow({
      wait: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'visit', filters: since, timeout: 60 },
        to: { event: 'pause' },
      },
      pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'end' },
      end: { type: 'EXIT' },
    });
    const exits = { exitOn: [{ eventName: 'paid', filters: since }] };
    await expectOk(api.call('PATCH', `/workflows/${workflow.id}`, { body: exits }));
    const contact = { email: 'zone@example.com' };
    const moveProjectTo = async (timezone: string) => {
      await sql`UPDATE projects SET timezone = ${timezone} WHERE id = ${api.one.id}`.execute(api.db);
      api.deps.keys.clear();
    };
    await moveProjectTo('Europe/Berlin');
    const at = (instant: string) => {
      const data = { at: instant };
      const events = [
        { name: 'visit', data },
        { name: 'paid', at: getTimeAfterStart(3_600_000), data },
      ];
      return previewWorkflow(workflow.id, { contact, events });
    };
    // Noon in Berlin is at 11:00 in UTC.
    expect(await at('2026-12-01T11:30:00Z')).toMatchObject({
      exitReason: 'exited_on_event',
      steps: [{ branch: 'event' }, {}],
    });
    expect(await at('2026-12-01T10:30:00Z')).toMatchObject({ status: 'COMPLETED', steps: [{ branch: 'timeout' }] });
    await moveProjectTo('UTC');
  });

  it('exits at an exit event, also during a delay, and when the contact unsubscribes', async () => {
    const workflow = await buildDisabledWorkflow({
      first: { type: 'UPDATE_CONTACT', config: { updates: { plan: 'pro' } }, to: 'pause' },
      pause: { type: 'DELAY', config: { amount: 5, unit: 'days' }, to: 'leave' },
      leave: { type: 'UPDATE_CONTACT', config: { subscribed: false }, to: 'end' },
      end: { type: 'EXIT' },
    });
    const exits = { exitOn: [{ eventName: 'order.paid' }], exitWhenUnsubscribed: true };
    await expectOk(api.call('PATCH', `/workflows/${workflow.id}`, { body: exits }));
    const contactId = await createContact('leaves@example.com');
    const paid = { name: 'order.paid', at: getTimeAfterStart(DAY_MS) };
    expect(await previewWorkflow(workflow.id, { contactId, events: [paid] })).toMatchObject({
      status: 'EXITED',
      exitReason: 'exited_on_event',
      endedAt: getTimeAfterStart(DAY_MS),
      steps: [{ name: 'first' }, { name: 'pause', status: 'CANCELLED', completedAt: getTimeAfterStart(DAY_MS) }],
    });
    expect(
      await previewWorkflow(workflow.id, { contactId, events: [{ ...paid, at: getTimeAfterStart(6 * DAY_MS) }] }),
    ).toMatchObject({
      exitReason: 'unsubscribed',
      endedAt: getTimeAfterStart(5 * DAY_MS),
      steps: [{}, { status: 'COMPLETED' }, { name: 'leave', status: 'CANCELLED' }],
    });
  });

  it('reports whether an SMS and an email would be sent, and uses no slot of the frequency cap', async () => {
    const workflow = await buildDisabledWorkflow({
      sms: { type: 'SEND_SMS', config: { body: 'Hello {{name}}' }, to: 'mail' },
      mail: { type: 'SEND_EMAIL', config: { templateId: marketing } },
    });
    const ask = async (data: Record<string, unknown>) => {
      const response = await previewWorkflow(workflow.id, { contact: { email: 'sms@example.com', data } });
      return response.steps;
    };
    expect((await ask({ name: 'Ada' }))[0]).toMatchObject({ status: 'SKIPPED', reason: 'no_phone', wouldSend: false });
    expect((await ask({ name: 'Ada', phone: '+4915112345678' }))[0]).toMatchObject({
      status: 'COMPLETED',
      wouldSend: true,
      channel: 'sms',
      to: '+4915112345678',
      body: 'Hello Ada',
    });
    await sql`UPDATE projects SET frequency_max = 1, frequency_days = 7 WHERE id = ${api.one.id}`.execute(api.db);
    const before = await readRowsWrittenByRequests(api.db);
    expect((await ask({ name: 'Ada' }))[1]).toMatchObject({ wouldSend: true });
    expect(await readRowsWrittenByRequests(api.db)).toEqual(before);
    await sql`UPDATE projects SET frequency_max = NULL, frequency_days = NULL WHERE id = ${api.one.id}`.execute(api.db);
  });

  it("delays MARKETING to the sending window in the contact's time zone, and continues from that time", async () => {
    const workflow = await buildDisabledWorkflow({
      plain: { type: 'SEND_EMAIL', config: { templateId: plain }, to: 'news' },
      news: { type: 'SEND_EMAIL', config: { templateId: marketing }, to: 'urgent' },
      urgent: { type: 'SEND_SMS', config: { body: 'Code', transactional: true }, to: 'move' },
      move: { type: 'UPDATE_CONTACT', config: { updates: { timezone: 'Asia/Tokyo' } }, to: 'sms' },
      sms: { type: 'SEND_SMS', config: { body: 'Hello' }, to: 'end' },
      end: { type: 'EXIT' },
    });
    const window = JSON.stringify({ from: '12:00', to: '20:00', days: [1, 2, 3, 4, 5, 6, 7], timezone: 'contact' });
    await sql`UPDATE projects SET sending_window = ${window} WHERE id = ${api.one.id}`.execute(api.db);
    const data = { phone: '+4915112345678', timezone: 'Europe/Berlin' };
    const response = await previewWorkflow(workflow.id, { contact: { email: 'hours@example.com', data } });
    const [noonInBerlin, noonInTokyo] = ['2026-12-01T11:00:00.000Z', '2026-12-02T03:00:00.000Z'];
    expect(response.steps).toMatchObject([
      { name: 'plain', at: START, completedAt: START, dueAt: null, wouldSend: true },
      { name: 'news', at: START, dueAt: noonInBerlin, completedAt: noonInBerlin, wouldSend: true },
      { name: 'urgent', at: noonInBerlin, completedAt: noonInBerlin, dueAt: null },
      { name: 'move' },
      { name: 'sms', at: noonInBerlin, dueAt: noonInTokyo, completedAt: noonInTokyo, wouldSend: true },
      { name: 'end', at: noonInTokyo },
    ]);
    await sql`UPDATE projects SET sending_window = NULL WHERE id = ${api.one.id}`.execute(api.db);
  });

  it('uses the endpoint’s response that the request gives', async () => {
    const workflow = await buildDisabledWorkflow({
      soft: { type: 'WEBHOOK', config: { url: 'https://hooks.example.com/a' }, to: 'hard' },
      hard: { type: 'WEBHOOK', config: { url: 'https://hooks.example.com/b', onFailure: 'FAIL' }, to: 'end' },
      end: { type: 'EXIT' },
    });
    const contact = { email: 'nobody@example.com' };
    const webhooks = [
      { step: 'soft', status: 503, body: { error: 'busy' } },
      { step: workflow.steps.hard, status: 404 },
    ];
    const response = await previewWorkflow(workflow.id, { contact, webhooks });
    expect(response).toMatchObject({ status: 'FAILED', error: 'HTTP 404', contactId: null });
    expect(response.steps).toMatchObject([
      { status: 'FAILED', error: 'HTTP 503', output: { statusCode: 503, body: '{"error":"busy"}' } },
      { status: 'FAILED', error: 'HTTP 404' },
    ]);
    expect(await previewWorkflow(workflow.id, { contact })).toMatchObject({ status: 'EXITED' });
  });

  it('shows the result for an address without a contact, by the current suppression list and hold', async () => {
    const workflow = await buildDisabledWorkflow({
      mail: { type: 'SEND_EMAIL', config: { templateId: marketing }, to: 'ask' },
      ask: {
        type: 'CONDITION',
        config: { field: 'data.name', operator: 'equals', value: 'Eve' },
        to: { yes: 'end', no: 'end' },
      },
      end: { type: 'EXIT' },
    });
    const contact = { email: 'Eve@Example.com', data: { name: 'Eve' } };
    const previewFirstStep = async (body: Record<string, unknown>) =>
      (await previewWorkflow(workflow.id, body)).steps[0];
    expect(await previewWorkflow(workflow.id, { contact })).toMatchObject({
      steps: [{ wouldSend: true, subject: 'News for Eve', to: 'eve@example.com', reason: null }, { branch: 'yes' }, {}],
    });
    expect(await previewFirstStep({ contact: { ...contact, subscribed: false } })).toMatchObject({
      reason: 'unsubscribed',
    });
    await expectOk(api.call('POST', '/suppressions', { body: { email: 'eve@example.com', reason: 'manual' } }));
    expect(await previewFirstStep({ contact })).toMatchObject({
      status: 'SKIPPED',
      wouldSend: false,
      reason: 'suppressed:manual',
    });
    await sql`UPDATE projects SET held_at = now(), hold_reason = 'test' WHERE id = ${api.one.id}`.execute(api.db);
    expect(await previewFirstStep({ contact: { email: 'held@example.com' } })).toMatchObject({
      wouldSend: false,
      reason: 'project_held',
    });
    await sql`UPDATE projects SET held_at = NULL, hold_reason = NULL WHERE id = ${api.one.id}`.execute(api.db);
  });

  it('ends a cycle as an execution does: by the loop guard, and at 1,000 steps', async () => {
    const createCircle = (amount: number): Record<string, StepSpec> => ({
      pause: { type: 'DELAY', config: { amount, unit: 'seconds' }, to: 'turn' },
      turn: { type: 'CONDITION', config: { field: 'email', operator: 'exists' }, to: { yes: 'pause', no: 'pause' } },
    });
    const contact = { email: 'round@example.com' };
    const shortCycle = await previewWorkflow((await buildDisabledWorkflow(createCircle(59))).id, { contact });
    expect(shortCycle).toMatchObject({ status: 'FAILED', error: 'loop' });
    expect(shortCycle.steps).toHaveLength(3);
    const far = await previewWorkflow((await buildDisabledWorkflow(createCircle(60))).id, { contact });
    expect(far).toMatchObject({ status: 'FAILED', error: 'loop' });
    expect(far.steps).toHaveLength(1_000);
  });

  it("needs the scope to see workflows, and uses only the project's workflows and contacts", async () => {
    const workflow = await buildDisabledWorkflow({ end: { type: 'EXIT' } });
    const contact = { email: 'a@example.com' };
    const ask = (body: unknown, key?: string) =>
      api.call('POST', `/v1/workflows/${workflow.id}/preview`, { body, ...(key !== undefined && { key }) });
    const viewer = await buildApiKey(api.db, api.one.id, ['workflows:view']);
    expect((await ask({ contact }, viewer)).status).toBe(200);
    expect((await ask({ contact }, api.one.bareKey)).status).toBe(403);
    expect((await ask({ contact }, api.two.secretKey)).status).toBe(404);
    const theirs = (
      await expectOk(api.call('POST', '/contacts', { key: api.two.secretKey, body: { email: 'x@example.com' } }))
    ).id;
    expect((await ask({ contactId: theirs })).status).toBe(404);
    expect((await ask({})).status).toBe(422);
    expect((await ask({ contact, contactId: theirs })).status).toBe(422);
  });
});
