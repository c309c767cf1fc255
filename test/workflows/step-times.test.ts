import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findNextTime, toWallTime, writeLocalTime } from '../../rules/time/local-time.ts';
import { ALL_DAYS } from '../../rules/time/sending-window.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signIn } from '../support/session.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
let service: TestService;
let owner: Record<string, string>;
let marketing: string;
let transactional: string;

beforeAll(async () => {
  service = await startTestService({ SMS_PROVIDER: 'capture' });
  const { db, one } = service;
  owner = await signIn({ db, deps: { config: { publicUrl: 'http://127.0.0.1' } } }, one);
  await buildDomain(db, { projectId: one.id });
  await db
    .insertInto('sms_senders')
    .values({ project_id: one.id, country: null, from_phone: '+15005550006' })
    .execute();
  marketing = await buildTemplate(db, { projectId: one.id, type: 'MARKETING' });
  transactional = await buildTemplate(db, { projectId: one.id });
});
beforeEach(() => patchProject({ sendingWindow: null, timezone: 'UTC' }));
afterAll(() => service?.close());

const patchProject = (body: object) =>
  expectOk(service.call('PATCH', '/project', { key: null, headers: owner, body: { ...body } }));

/** Returns the time in UTC as `HH:MM`, this number of milliseconds from now. */
const getHourIn = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16);
const createClosedWindow = () => ({ from: getHourIn(2 * HOUR_MS), to: getHourIn(3 * HOUR_MS), timezone: 'UTC' });

const listSmsTo = async (phone: string) =>
  (await expectOk(service.call('GET', `/v1/sms?to=${encodeURIComponent(phone)}`))).data;

let names = 0;
async function buildWorkflowOfStep(step: {
  type: 'SEND_EMAIL' | 'SEND_SMS' | 'DELAY';
  config: object;
}): Promise<string> {
  names += 1;
  const eventName = `times-${names}`;
  const steps = { step: { type: step.type, config: { ...step.config }, to: 'end' }, end: { type: 'EXIT' as const } };
  await buildWorkflow(service, { eventName, steps });
  return eventName;
}

let people = 0;
/** Tracks the event that starts a workflow, for a new contact with this data. Returns the id of the execution. */
async function startExecution(event: string, data: Record<string, unknown> = {}): Promise<string> {
  people += 1;
  const email = `p${people}@to.test`;
  await expectOk(service.call('POST', '/contacts', { body: { email, subscribed: true, data } }));
  await expectOk(service.call('POST', '/v1/track', { body: { email, event } }));
  return until(async () => {
    const { rows } = await sql<{ id: string }>`
      SELECT e.id FROM executions e JOIN contacts c ON c.id = e.contact_id WHERE c.email = ${email} AND e.event_name = ${event}
    `.execute(service.db);
    return rows[0]?.id;
  }, 'the execution');
}

async function readState(executionId: string) {
  const { rows } = await sql<{
    status: string;
    step: string;
    dueAt: Date | null;
    mail: string | null;
    sentAt: Date | null;
  }>`
    SELECT e.status, s.status AS step, s.due_at AS "dueAt", m.status AS mail, m.sent_at AS "sentAt"
    FROM executions e JOIN execution_steps s ON s.execution_id = e.id AND s.visit = 1
    LEFT JOIN emails m ON m.execution_id = e.id WHERE e.id = ${executionId}`.execute(service.db);
  return rows[0];
}
const waitForStatus = (id: string, status: string) =>
  until(async () => {
    const state = await readState(id);
    return state?.status === status ? state : undefined;
  }, `an execution ${status}`);

async function findEmail(executionId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM emails WHERE execution_id = ${executionId}`.execute(
    service.db,
  );
  return rows[0]?.id ?? '';
}
const waitForSent = (emailId: string) =>
  until(async () => {
    const { rows } = await sql<{ status: string }>`SELECT status FROM emails WHERE id = ${emailId}`.execute(service.db);
    return rows[0]?.status === 'SENT';
  }, 'the email to be sent');

describe('the sending window of the project', () => {
  it('delays MARKETING of an automation with a timer until it opens, also across a restart of the worker', async () => {
    const event = await buildWorkflowOfStep({ type: 'SEND_EMAIL', config: { templateId: marketing } });
    const opensMs = (Math.floor(Date.now() / 60_000) + 1) * 60_000;
    const opens = new Date(opensMs);
    await patchProject({
      sendingWindow: { from: getHourIn(opensMs - Date.now()), to: getHourIn(HOUR_MS), timezone: 'UTC' },
    });
    const id = await startExecution(event);
    const waits = await waitForStatus(id, 'WAITING');
    expect(waits).toMatchObject({ step: 'WAITING', dueAt: opens, mail: null });
    await service.stopWorker();
    await service.startWorker();
    const done = await waitForStatus(id, 'EXITED');
    expect(done).toMatchObject({ step: 'COMPLETED', dueAt: null, mail: 'SENT' });
    expect(done.sentAt?.getTime()).toBeGreaterThanOrEqual(opensMs);
  });

  it("uses the contact's time zone if it is set so, and does not delay TRANSACTIONAL email", async () => {
    const event = await buildWorkflowOfStep({ type: 'SEND_EMAIL', config: { templateId: marketing } });
    const getHour = (zone: string, ms: number) => writeLocalTime(toWallTime(zone, Date.now() + ms)).slice(11);
    const [from, to] = [getHour('Asia/Kathmandu', -HOUR_MS), getHour('Asia/Kathmandu', HOUR_MS)];
    await patchProject({ sendingWindow: { from, to, timezone: 'contact' } });
    expect(await waitForStatus(await startExecution(event, { timezone: 'Asia/Kathmandu' }), 'EXITED')).toMatchObject({
      mail: 'SENT',
    });
    expect(await waitForStatus(await startExecution(event, { timezone: 'Asia/Tokyo' }), 'WAITING')).toMatchObject({
      mail: null,
    });
    await patchProject({ sendingWindow: createClosedWindow() });
    const single = await buildWorkflowOfStep({ type: 'SEND_EMAIL', config: { templateId: transactional } });
    expect(await waitForStatus(await startExecution(single), 'EXITED')).toMatchObject({ mail: 'SENT' });
  });

  it('does not delay a contact that a user moves on', async () => {
    const email = await buildWorkflowOfStep({ type: 'SEND_EMAIL', config: { templateId: marketing } });
    const sms = await buildWorkflowOfStep({ type: 'SEND_SMS', config: { body: 'Hello' } });
    const phone = '+4915112345677';
    await patchProject({ sendingWindow: createClosedWindow() });
    const advanceExecution = async (event: string) => {
      const id = await startExecution(event, { phone });
      await waitForStatus(id, 'WAITING');
      const { rows } = await sql<{ workflowId: string }>`
        SELECT workflow_id AS "workflowId" FROM executions WHERE id = ${id}`.execute(service.db);
      await expectOk(service.call('POST', `/workflows/${rows[0]?.workflowId}/executions/${id}/advance`, { body: {} }));
      return waitForStatus(id, 'EXITED');
    };
    expect(await advanceExecution(email)).toMatchObject({ step: 'COMPLETED', mail: 'SENT' });
    expect(await advanceExecution(sms)).toMatchObject({ step: 'COMPLETED' });
    await until(async () => (await listSmsTo(phone))[0]?.status === 'SENT', 'the SMS');
  });

  it('delays MARKETING email that is released from a hold', async () => {
    const event = await buildWorkflowOfStep({ type: 'SEND_EMAIL', config: { templateId: marketing } });
    await expectOk(service.call('POST', '/project/hold', { key: null, headers: owner, body: {} }));
    const id = await startExecution(event);
    expect(await waitForStatus(id, 'EXITED')).toMatchObject({ mail: 'HELD' });
    await patchProject({ sendingWindow: createClosedWindow() });
    await expectOk(service.call('POST', '/project/release', { key: null, headers: owner }));
    await until(async () => (await readState(id))?.mail === 'PENDING' || undefined, 'the email to be released');
    await until(async () => {
      const { rows } = await sql`SELECT id FROM outbox WHERE ref_id = ${await findEmail(id)}`.execute(service.db);
      return rows.length === 0;
    }, 'Temporal to wait for the window');
    // An attempt that finds the sending window closed does not count as an attempt.
    const { rows } = await sql`SELECT status, attempts, sent_at FROM emails WHERE execution_id = ${id}`.execute(
      service.db,
    );
    expect(rows).toEqual([{ status: 'PENDING', attempts: 0, sent_at: null }]);
    // An email that waits for the sending window does not delay other emails of its project.
    const body = { to: 'other@to.test', template: transactional };
    const { data } = await expectOk(service.call('POST', '/v1/send', { body }));
    await waitForSent(data.emails[0].email);
  });

  it('also delays an SMS, and wakes waiting executions when it is removed; a transactional SMS is sent', async () => {
    const phone = '+4915112345678';
    const event = await buildWorkflowOfStep({ type: 'SEND_SMS', config: { body: 'Hello' } });
    await patchProject({ sendingWindow: createClosedWindow() });
    const id = await startExecution(event, { phone });
    expect(await waitForStatus(id, 'WAITING')).toMatchObject({ step: 'WAITING', dueAt: expect.any(Date) });
    expect(await listSmsTo(phone)).toEqual([]);
    const urgent = await buildWorkflowOfStep({ type: 'SEND_SMS', config: { body: 'Your code', transactional: true } });
    await waitForStatus(await startExecution(urgent, { phone }), 'EXITED');
    expect(await listSmsTo(phone)).toHaveLength(1);
    await patchProject({ sendingWindow: null });
    expect(await waitForStatus(id, 'EXITED')).toMatchObject({ step: 'COMPLETED' });
    expect(await listSmsTo(phone)).toHaveLength(2);
  });

  it('wakes waiting executions when it is changed to open earlier, and they wait for the new time', async () => {
    const event = await buildWorkflowOfStep({ type: 'SEND_EMAIL', config: { templateId: marketing } });
    await patchProject({ sendingWindow: createClosedWindow() });
    const id = await startExecution(event);
    const { dueAt: before } = await waitForStatus(id, 'WAITING');
    await patchProject({ sendingWindow: { ...createClosedWindow(), from: getHourIn(HOUR_MS) } });
    const earlier = await until(async () => {
      const state = await readState(id);
      return state?.dueAt && before && state.dueAt < before ? state : undefined;
    }, 'the earlier opening');
    expect(earlier).toMatchObject({ status: 'WAITING', step: 'WAITING', mail: null });
    await patchProject({ sendingWindow: { ...createClosedWindow(), from: getHourIn(-HOUR_MS) } });
    expect(await waitForStatus(id, 'EXITED')).toMatchObject({ step: 'COMPLETED', mail: 'SENT' });
  });

  it('also delays a sandbox, except one that skips its delays', async () => {
    await patchProject({ sendingWindow: createClosedWindow() });
    const { id: workflow } = await buildWorkflow(service, {
      eventName: 'tried',
      steps: {
        mail: { type: 'SEND_EMAIL', config: { templateId: marketing }, to: 'sms' },
        sms: { type: 'SEND_SMS', config: { body: 'Hello' }, to: 'end' },
        end: { type: 'EXIT' },
      },
    });
    const body = { email: 'tried@to.test', subscribed: true, data: { phone: '+4915112345679' } };
    const { id: contactId } = await expectOk(service.call('POST', '/contacts', { body }));
    const runInSandbox = async (how: object) =>
      (
        await expectOk(
          service.call('POST', `/workflows/${workflow}/executions`, { body: { contactId, sandbox: true, ...how } }),
        )
      ).id;
    await waitForStatus(await runInSandbox({}), 'WAITING');
    const id = await runInSandbox({ skipDelays: true });
    expect(await waitForStatus(id, 'EXITED')).toMatchObject({ step: 'COMPLETED', mail: 'SENT' });
    const sent = await until(async () => {
      const [sms] = await listSmsTo('+4915112345679');
      return sms?.status === 'SENT' ? sms : undefined;
    }, 'the SMS');
    expect(sent).toMatchObject({ mode: 'test' });
    for (const path of [`/activity?contactId=${contactId}`, `/contacts/${contactId}/timeline`]) {
      const { data } = await expectOk(service.call('GET', path));
      // The only event is the one for the new subscribed contact. The sandbox recorded none.
      expect(data.map(({ type }: { type: string }) => type)).toEqual(['contact.subscribed']);
    }
  });

  it('does not delay an email of POST /v1/send', async () => {
    await patchProject({ sendingWindow: createClosedWindow() });
    const body = { to: 'asked@to.test', template: marketing, subscribed: true };
    const { data } = await expectOk(service.call('POST', '/v1/send', { body }));
    await waitForSent(data.emails[0].email);
  });
});

describe('a DELAY until an hour', () => {
  it('ends at that hour in the step’s time zone, else the contact’s, else the project’s', async () => {
    await patchProject({ timezone: 'Pacific/Honolulu' });
    const config = { until: '09:00', days: [1, 3, 5] };
    const event = await buildWorkflowOfStep({ type: 'DELAY', config });
    const named = await buildWorkflowOfStep({ type: 'DELAY', config: { ...config, timezone: 'Asia/Kolkata' } });
    const getDueTime = (zone: string) =>
      new Date(findNextTime(zone, { hour: '09:00', days: config.days, afterMs: Date.now() }));
    const readDueTime = async (id: string) => (await waitForStatus(id, 'WAITING')).dueAt;
    expect(await readDueTime(await startExecution(event, { timezone: 'Asia/Kathmandu' }))).toEqual(
      getDueTime('Asia/Kathmandu'),
    );
    expect(await readDueTime(await startExecution(event, { timezone: 'Mars/Olympus' }))).toEqual(
      getDueTime('Pacific/Honolulu'),
    );
    expect(await readDueTime(await startExecution(event))).toEqual(getDueTime('Pacific/Honolulu'));
    expect(await readDueTime(await startExecution(named, { timezone: 'Asia/Kathmandu' }))).toEqual(
      getDueTime('Asia/Kolkata'),
    );
  });

  it('can take the hour from a field of the contact', async () => {
    const event = await buildWorkflowOfStep({ type: 'DELAY', config: { until: '{{wish}}' } });
    const dueAt = new Date(findNextTime('UTC', { hour: '07:30', days: ALL_DAYS, afterMs: Date.now() }));
    expect(await waitForStatus(await startExecution(event, { wish: '07:30' }), 'WAITING')).toMatchObject({ dueAt });
  });

  it('is refused if the hour is invalid', async () => {
    const { id } = (await buildWorkflow(service, { steps: {}, enabled: false })) satisfies BuiltWorkflow;
    const createStepAndReadStatus = async (config: object) =>
      (await service.call('POST', `/workflows/${id}/steps`, { body: { type: 'DELAY', name: 'd', config } })).status;
    expect(await createStepAndReadStatus({ until: '23:59', days: [7], timezone: 'Europe/Berlin' })).toBe(201);
    const bad = [{ until: '24:00' }, { until: '9:00' }, { until: '09:00', days: [] }, { until: '09:00', days: [8] }];
    for (const config of [...bad, { until: '09:00', timezone: 'Mars/Olympus' }, { until: '2030-01-01', days: [1] }])
      expect(await createStepAndReadStatus(config), JSON.stringify(config)).toBe(422);
  });
});

it('dates in steps and emails are in the time zone of the project', async () => {
  await patchProject({ timezone: 'Europe/Berlin' });
  const dates = '{{ data.starts | date: "%H:%M" }} {{ data.ends | date: "%H:%M" }}';
  const content = { subject: dates, body: `<p>${dates}</p>`, from: 'a@shop.example.com', type: 'TRANSACTIONAL' };
  const template = await expectOk(service.call('POST', '/v1/templates', { body: { name: 'Dates', ...content } }));
  await buildWorkflow(service, {
    eventName: 'dates',
    steps: {
      note: { type: 'UPDATE_CONTACT', config: { updates: { times: dates } }, to: 'mail' },
      mail: { type: 'SEND_EMAIL', config: { templateId: template.id }, to: 'end' },
      end: { type: 'EXIT' as const },
    },
  });
  const id = await startExecution('dates', { starts: '2027-07-01T09:00', ends: '2027-07-01T09:00:00Z' });
  await waitForStatus(id, 'EXITED');
  const { data } = await expectOk(service.call('GET', `/v1/emails?workflowExecutionId=${id}`));
  expect(data).toMatchObject([{ subject: '09:00 11:00' }]);
  const shown = await expectOk(service.call('GET', `/v1/emails/${data[0].id}`));
  expect(JSON.stringify(shown)).toContain('<p>09:00 11:00</p>');
  const contact = await expectOk(service.call('GET', `/v1/contacts/${data[0].contactId}`));
  expect(contact.data.times).toBe('09:00 11:00');
  const preview = await expectOk(
    service.call('POST', '/v1/templates/preview', { body: { ...content, contactId: contact.id } }),
  );
  expect(preview.subject).toBe('09:00 11:00');
});
