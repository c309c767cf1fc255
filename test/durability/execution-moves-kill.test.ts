import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { createHomePath, removeHome, type StartedService, waitForCondition } from '../support/start.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/** The number of contacts that each kind of request moves or ends. */
const CONTACTS = 20;
const ONE_EACH = Array.from({ length: CONTACTS }, () => 1);
const PAUSE_MS = 100;

let home: string;
let sink: SinkProcess;
let service: StartedService;
let receiver: WebhookReceiver;
/** True while the endpoint of the WEBHOOK step does not exist. */
let gone = true;

beforeAll(async () => {
  home = createHomePath();
  sink = await startSinkProcess();
  receiver = await startWebhookReceiver((_, response) => response.writeHead(gone ? 410 : 200).end());
  service = await startSmtpService(home, sink.url, { WEBHOOK_ALLOW_PRIVATE: 'true' });
});

afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.exited;
  await Promise.all([sink?.stop(), receiver?.close()]);
  await removeHome(home);
});

const call = (method: string, path: string, body?: unknown) => callService(service, method, path, body);

/**
 * Repeats a request until it has a response. If the first response was lost, 409 proves that the first request
 * succeeded.
 */
async function callUntilDone(method: string, path: string, body?: unknown): Promise<void> {
  for (;;) {
    const failed = await call(method, path, body).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (failed === undefined || /\b409\b/.test(failed)) return;
    await sleep(PAUSE_MS);
  }
}

function killApiAndWorkers(): void {
  const { api, workers } = service.dev().pids;
  for (const pid of [api, ...workers]) {
    if (pid === null) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The killed API has not been started again yet.
    }
  }
}

async function saveTemplate(name: string, body: string): Promise<string> {
  const from = `hello@${service.dev().domain}`;
  return (await call('POST', '/templates', { name, subject: 'S', body, type: 'TRANSACTIONAL', from })).id;
}

/** Returns the executions of a workflow. */
async function listExecutions(workflowId: string): Promise<{ id: string; contactId: string; status: string }[]> {
  return (await call('GET', `/workflows/${workflowId}/executions?limit=100`)).data;
}

async function hasAllInStatus(workflowId: string, status: string, count: number): Promise<boolean> {
  const found = await listExecutions(workflowId).catch(() => []);
  return found.filter((one) => one.status === status).length === count;
}

async function trackAll(event: string, count: number): Promise<void> {
  const emails = Array.from({ length: count }, (_, n) => `${event}-${n}@example.com`);
  await Promise.all(emails.map((email) => call('POST', '/v1/track', { email, event })));
}

/**
 * Returns the number of different emails for each contact. An email that was on the wire at a kill may arrive twice,
 * with the same Message-ID.
 */
async function countEmailsPerContact(event: string): Promise<number[]> {
  const idsOf = new Map<string, Set<string>>();
  for (const { to, messageId } of await sink.messages()) {
    if (to.startsWith(`${event}-`)) idsOf.set(to, (idsOf.get(to) ?? new Set()).add(messageId));
  }
  return [...idsOf.values()].map((ids) => ids.size);
}

/**
 * Builds a workflow of a DELAY of ten days and a SEND_EMAIL, with all contacts at the DELAY. `ask` sends the requests:
 * they move a third of the contacts on, and end the executions of another third.
 */
async function prepareMoves() {
  const templateId = await saveTemplate('moved', '<p>Hello</p>');
  const { id } = await call('POST', '/workflows', { name: 'moves', eventName: 'moves' });
  const delay = { type: 'DELAY', config: { amount: 10, unit: 'days' }, autoConnect: true };
  await call('POST', `/workflows/${id}/steps`, delay);
  await call('POST', `/workflows/${id}/steps`, { type: 'SEND_EMAIL', config: { templateId }, autoConnect: true });
  await call('PATCH', `/workflows/${id}`, { enabled: true, exitOn: [{ eventName: 'bought' }] });
  await trackAll('moves', 3 * CONTACTS);
  await waitForCondition(service, () => hasAllInStatus(id, 'WAITING', 3 * CONTACTS));
  const executionOf = new Map((await listExecutions(id)).map((one) => [one.contactId, one.id]));
  const emails = Array.from({ length: 3 * CONTACTS }, (_, n) => `moves-${n}@example.com`);
  const { found } = await call('POST', '/contacts/lookup', { emails });
  const moved = found.slice(0, CONTACTS).map((contact: { id: string }) => executionOf.get(contact.id));
  const leaving = found.slice(CONTACTS, 2 * CONTACTS).map((contact: { email: string }) => contact.email);
  const ask = () => [
    ...moved.map((one: string) => callUntilDone('POST', `/workflows/${id}/executions/${one}/advance`, {})),
    ...leaving.map((email: string) => callUntilDone('POST', '/v1/track', { email, event: 'bought' })),
  ];
  return { id, ask };
}

/**
 * Builds a workflow of a WEBHOOK and a SEND_EMAIL, in which every execution has FAILED at the WEBHOOK. The endpoint now
 * accepts requests. `ask` sends the requests that retry the executions.
 */
async function prepareRetries() {
  const templateId = await saveTemplate('retried', '<p>Hello</p>');
  const { id } = await call('POST', '/workflows', { name: 'retried', eventName: 'retried' });
  const hook = { type: 'WEBHOOK', config: { url: receiver.url, onFailure: 'FAIL' }, autoConnect: true };
  await call('POST', `/workflows/${id}/steps`, hook);
  await call('POST', `/workflows/${id}/steps`, { type: 'SEND_EMAIL', config: { templateId }, autoConnect: true });
  await call('PATCH', `/workflows/${id}`, { enabled: true });
  await trackAll('retried', CONTACTS);
  await waitForCondition(service, () => hasAllInStatus(id, 'FAILED', CONTACTS));
  const failed = await listExecutions(id);
  gone = false;
  return {
    id,
    ask: () => failed.map((one) => callUntilDone('POST', `/workflows/${id}/executions/${one.id}/retry`, {})),
  };
}

describe('requests that move executions while API and workers are killed', () => {
  let moves: string;
  let retries: string;

  // Both tests share these kills, because Temporal takes most of the time to notice that the workers are gone.
  beforeAll(async () => {
    const [toMove, toRetry] = [await prepareMoves(), await prepareRetries()];
    [moves, retries] = [toMove.id, toRetry.id];
    const responses = Promise.all([...toMove.ask(), ...toRetry.ask()]);
    killApiAndWorkers();
    await responses;
    killApiAndWorkers();
  });

  it('take effect once: moved contacts get the email, ended ones get none, and the others keep waiting', async () => {
    await waitForCondition(service, () => hasAllInStatus(moves, 'COMPLETED', CONTACTS));
    await waitForCondition(service, () => hasAllInStatus(moves, 'EXITED', CONTACTS));
    expect(await hasAllInStatus(moves, 'WAITING', CONTACTS)).toBe(true);
    expect(await countEmailsPerContact('moves')).toEqual(ONE_EACH);
  });

  it('take effect once: a retried execution continues to the email', async () => {
    await waitForCondition(service, () => hasAllInStatus(retries, 'COMPLETED', CONTACTS));
    expect(await countEmailsPerContact('retried')).toEqual(ONE_EACH);
  });
});
