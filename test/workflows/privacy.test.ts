import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLogger } from '../../cli/logger.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { connectOperator, type Operator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/** A part of every address, name, number and text of a person here. */
const MARK = 'quillfeather';
const PHONE = '+4915199887766';
const MARKS = new RegExp(`${MARK}|${PHONE.slice(1)}`, 'i');
let service: TestService;
let operator: Operator;
let sink: SmtpSink;
let receiver: WebhookReceiver;
const lines: string[] = [];

beforeAll(async () => {
  sink = await startSmtpSink({
    answerRcpt: (to) =>
      to.includes('gone') ? `550 5.1.1 <${to}>: Ms ${MARK} has left` : `450 4.2.1 <${to}>: Ms ${MARK} is away`,
  });
  receiver = await startWebhookReceiver((_request, response) => response.writeHead(503).end(`no ${MARK}`));
  service = await startTestService(
    { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, SMS_PROVIDER: 'capture' },
    { log: createLogger('worker', 'debug', { write: (line: string) => void lines.push(line) }) },
  );
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await receiver?.close();
  await sink?.close();
});

/** All that Temporal keeps of this file's workflows, with payloads decoded. */
async function keptByTemporal(): Promise<string> {
  const kept: string[] = [];
  for await (const { workflowId, runId, memo, searchAttributes } of operator.client.workflow.list()) {
    const handle = operator.client.workflow.getHandle(workflowId, runId);
    const history = JSON.stringify(historyToJSON(await handle.fetchHistory()));
    const payloads = [...history.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
      Buffer.from(data, 'base64').toString(),
    );
    const asked = await handle.query('__temporal_workflow_metadata').catch(() => undefined);
    kept.push(JSON.stringify({ workflowId, memo, searchAttributes, payloads, asked }), history);
  }
  return kept.join('\n');
}

it('no address, number or text of a person reaches Temporal or a log, whatever fails', async () => {
  const templateId = await buildTemplate(service.db, { projectId: service.one.id });
  const steps = {
    mail: { type: 'SEND_EMAIL' as const, config: { templateId } },
    unreachable: { type: 'WEBHOOK' as const, config: { url: 'http://{{name}}.invalid/{{email}}' } },
    refused: { type: 'WEBHOOK' as const, config: { url: `${receiver.url}/{{email}}`, onFailure: 'FAIL' } },
    sms: { type: 'SEND_SMS' as const, config: { body: 'Hi {{name}}' } },
  };
  const runs: string[] = [];
  for (const [eventName, step] of Object.entries(steps)) {
    const workflow = await buildWorkflow(service, { eventName, steps: { step } });
    await track(service, `${MARK}-${eventName}@example.com`, eventName, { name: MARK, phone: PHONE });
    runs.push(await until(async () => (await listExecutions(service, workflow.id))[0]?.id, 'the execution'));
  }
  const body = { from: 'x@shop.example.com', subject: `Dear ${MARK}`, body: `<p>${MARK}</p>` };
  for (const local of ['away', 'gone']) {
    await expectOk(service.call('POST', '/v1/send', { body: { ...body, to: `${MARK}-${local}@example.com` } }));
  }
  await service.call('POST', '/v1/send', { body: { ...body, to: `not an address of ${MARK}` } });
  await service.call('GET', `/contacts?search=${MARK}`, { headers: { 'x-request-id': `${MARK}@example.com` } });

  // Each failure has come to Temporal: the emails wait for their next attempt, the webhooks have failed once.
  const kept = await until(async () => {
    const text = await keptByTemporal();
    return text.includes('attempt 1 by smtp') && text.includes('450 4.2.1') && text;
  }, 'the deferred emails');
  const pending = await until(async () => {
    const found = await Promise.all(
      runs.slice(0, 3).map(async (id) => {
        const { raw } = await operator.client.workflow.getHandle(service.names.execution(id)).describe();
        return raw.pendingActivities?.[0]?.lastFailure?.message;
      }),
    );
    return found.every(Boolean) && found;
  }, 'the failures of steps');
  expect(pending).toEqual([
    expect.stringMatching(/^attempt 1 by smtp .*: 450 4\.2\.1; again at /),
    expect.stringMatching(/^attempt \d of 5: (ENOTFOUND|EAI_AGAIN)/),
    expect.stringMatching(/^attempt \d of 5: answered 503/),
  ]);
  const log = await until(() => lines.join('').includes('a message has ended') && lines.join(''), 'the log');
  expect(MARKS.exec(kept)?.[0]).toBeUndefined();
  expect(MARKS.exec(JSON.stringify(pending))?.[0]).toBeUndefined();
  expect(lines.filter((line) => MARKS.test(line))).toEqual([]);
  expect(log).toContain('"outcome":"bounced"');
  // The provider's whole reply is with the email.
  const { error } = await service.db
    .selectFrom('emails')
    .select('error')
    .where('to_email', '=', `${MARK}-gone@example.com`)
    .executeTakeFirstOrThrow();
  expect(error).toContain(`Ms ${MARK} has left`);
});
