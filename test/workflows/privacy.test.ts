import { sql } from 'kysely';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeTwilio, startFakeTwilio } from '../../cli/demo/twilio.ts';
import { createLogger } from '../../cli/logger.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { createVerpAddress } from '../../rules/emails/verp.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { connectRecovery } from '../support/recovery.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { formatArf, formatDsn } from '../support/smtp/email-reports.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { readAllTemporalData } from '../support/temporal-data.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/** This mark is part of every address, name and text of a person in this test. `MARKS` also matches the number. */
const MARK = 'quillfeather';
const PHONE = '+4915199887766';
const MARKS = new RegExp(`${MARK}|${PHONE.slice(1)}`, 'i');
const verpKey = deriveKey(TEST_SECRET_KEY, 'verp');
let service: TestService;
let operator: TestOperator;
let sink: SmtpSink;
let receiver: WebhookReceiver;
let twilio: FakeTwilio;
let dns: DnsServer;
let relayPort: number;
let inboundPort: number;
let loginRefused = false;
const lines: string[] = [];

beforeAll(async () => {
  sink = await startSmtpSink({
    replyToRcpt: (to) => {
      if (to.includes('gone')) return `550 5.1.1 <${to}>: Ms ${MARK} has left`;
      // An invalid reply: its code does not match the command.
      if (to.includes('odd')) return `354 Ms ${MARK} (${MARK}@) is away`;
      return `450 4.2.1 <${to}>: Ms ${MARK} is away`;
    },
    replyToAuth: () => (loginRefused ? `535 5.7.8 Ms ${MARK} has closed the account of ${MARK}@example.com` : null),
  });
  receiver = await startWebhookReceiver((_request, response) => response.writeHead(503).end(`no ${MARK}`));
  twilio = await startFakeTwilio();
  dns = await startDnsServer({});
  relayPort = await findFreePort();
  inboundPort = await findFreePort();
  service = await startTestService(
    {
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: sink.url.replace('://', '://user:password@'),
      SMTP_RELAY_PORT: String(relayPort),
      INBOUND_SMTP_PORT: String(inboundPort),
      DNS_SERVERS: dns.address,
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
      TWILIO_AUTH_TOKEN: 'the token of the tests',
      TWILIO_BASE_URL: twilio.url,
    },
    { log: createLogger('worker', 'debug', { write: (line: string) => void lines.push(line) }) },
  );
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
  await service.db
    .insertInto('sms_senders')
    .values({ project_id: service.one.id, country: null, from_phone: '+15005550006' })
    .execute();
  // Adds a trigger whose error contains the contact, as a constraint or trigger of an operator may.
  await sql`
    CREATE FUNCTION refuse_contact() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no place for % with %', NEW.email, NEW.data; END $$`.execute(service.db);
  await sql`
    CREATE TRIGGER refuse_contact BEFORE INSERT ON contacts FOR EACH ROW
    WHEN (NEW.email LIKE '%-unwritable@%') EXECUTE FUNCTION refuse_contact()`.execute(service.db);
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await Promise.all([receiver?.close(), twilio?.close(), dns?.close(), sink?.close()]);
});

const createMarkedAddress = (about: string) => `${MARK}-${about}@example.com`;

/** Waits until the log has a line with this message and these fields. */
const waitForLog = (msg: string, fields: object = {}) =>
  until(
    () =>
      lines
        .map((line): Record<string, unknown> => JSON.parse(line))
        .find((line) => line.msg === msg && Object.entries(fields).every(([key, value]) => line[key] === value)),
    `the line “${msg}”`,
  );

const waitForPendingFailure = (workflowId: string) =>
  until(async () => {
    const { raw } = await operator.client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.[0]?.lastFailure?.message;
  }, `the failure of ${workflowId}`);

async function startImport(csv: string): Promise<string> {
  const form = new FormData();
  form.append('file', new File([csv], `${MARK}.csv`));
  const headers = { authorization: `Bearer ${service.one.secretKey}` };
  const response = await fetch(`${service.baseUrl}/contacts/import`, { method: 'POST', body: form, headers });
  expect(response.status).toBe(202);
  return ((await response.json()) as { jobId: string }).jobId;
}

const waitForJobEnd = (id: string) =>
  until(async () => {
    const job = await expectOk(service.call('GET', `/contacts/import/${id}`));
    return job.completedAt && job;
  }, 'the end of the import');

/** Sends a message to an SMTP listener. Returns the last reply. */
function submit(port: number, p: { from: string; to: string; raw: string; pass?: string }): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    ...(p.pass !== undefined && { auth: { user: `${MARK}@example.com`, pass: p.pass } }),
  });
  const sent = transport.sendMail({ envelope: { from: p.from, to: p.to }, raw: p.raw.replaceAll('\n', '\r\n') });
  return sent.then(
    ({ response }) => response,
    (error: { response?: string }) => error.response ?? String(error),
  );
}

/** Returns a message with `depth` nested parts. The parser refuses more than 1,000. */
const createNestedMessage = (depth: number) =>
  Array.from(
    { length: depth },
    (_, n) => `Content-Type: multipart/mixed; boundary="${MARK}${n}"\n\n--${MARK}${n}\n`,
  ).join('');

describe('failures that involve personal data', () => {
  it('are retried, and Temporal has only their error codes', async () => {
    const templateId = await buildTemplate(service.db, { projectId: service.one.id });
    const steps = {
      mail: { type: 'SEND_EMAIL' as const, config: { templateId } },
      unreachable: { type: 'WEBHOOK' as const, config: { url: 'http://{{name}}.invalid/{{email}}' } },
      refused: { type: 'WEBHOOK' as const, config: { url: `${receiver.url}/{{email}}`, onFailure: 'FAIL' } },
    };
    const pending: string[] = [];
    for (const [eventName, step] of Object.entries(steps)) {
      const workflow = await buildWorkflow(service, { eventName, steps: { step } });
      await track(service, createMarkedAddress(eventName), eventName, { name: MARK, phone: PHONE });
      const { id } = await until(async () => (await listExecutions(service, workflow.id))[0], 'the execution');
      await operator.waitForStart(service.names.execution(id));
      pending.push(await waitForPendingFailure(service.names.execution(id)));
    }
    expect(pending).toEqual([
      expect.stringMatching(/^attempt 1 by smtp .*: 450 4\.2\.1; again at /),
      expect.stringMatching(/^attempt \d of 5: (ENOTFOUND|EAI_AGAIN)/),
      expect.stringMatching(/^attempt \d of 5: HTTP 503/),
    ]);
  });

  it('occur in email that is deferred and refused; the reply stays with the email', async () => {
    const body = { from: 'x@shop.example.com', subject: `Dear ${MARK}`, body: `<p>${MARK}</p>` };
    for (const about of ['away', 'gone', 'odd']) {
      await expectOk(service.call('POST', '/v1/send', { body: { ...body, to: createMarkedAddress(about) } }));
    }
    await waitForLog('a message has ended', { outcome: 'bounced' });
    const { error } = await service.db
      .selectFrom('emails')
      .select('error')
      .where('to_email', '=', createMarkedAddress('gone'))
      .executeTakeFirstOrThrow();
    expect(error).toContain(`Ms ${MARK} has left`);
  });

  it('occur in requests that are refused, and in one that fails in Postgres', async () => {
    const body = { from: 'x@shop.example.com', subject: 'Hi', body: MARK };
    const headers = { 'x-request-id': `${MARK}@example.com` };
    const send = (to: string) =>
      service.call('POST', '/v1/send', { headers, body: { ...body, to, data: { name: MARK } } });
    expect((await send(`not an address of ${MARK}`)).status).toBe(422);
    expect((await send(createMarkedAddress('unwritable'))).status).toBe(500);
    await service.call('GET', `/contacts?search=${MARK}`, { headers });
    await waitForLog('request failed');
  });

  it('occur in imports: rows with errors, an invalid file, and a wait for Postgres', async () => {
    const bad = await waitForJobEnd(await startImport(`email,name\nnot an address of ${MARK},${MARK}\n`));
    expect(bad.result).toMatchObject({ failureCount: 1, errors: [{ email: `not an address of ${MARK}` }] });
    const invalidFile = await waitForJobEnd(
      await startImport(`email,name\n${createMarkedAddress('torn')},${MARK}\n${'"\n'.repeat(5_000)}`),
    );
    expect(invalidFile.status).toBe('FAILED');
    const id = await startImport(`email,name\n${createMarkedAddress('import-unwritable')},${MARK}\n`);
    await operator.waitForStart(service.names.job(id));
    expect(await waitForPendingFailure(service.names.job(id))).toBe('Postgres P0001');
    await expectOk(service.call('POST', `/contacts/jobs/${id}/cancel`));
  });

  it('occur at the SMTP relay: logins, senders, recipients and messages are refused, and one message fails in Postgres', async () => {
    const raw = `From: ${MARK} <x@shop.example.com>\nSubject: ${MARK}\n\n${MARK}\n`;
    const good = { from: 'x@shop.example.com', to: createMarkedAddress('relay'), raw, pass: service.one.secretKey };
    const replies = [
      await submit(relayPort, { ...good, pass: `sk_${MARK}` }),
      await submit(relayPort, { ...good, to: `${MARK}@localhost` }),
      await submit(relayPort, { ...good, raw: raw.replace('shop.example.com', `${MARK}.test`) }),
      await submit(relayPort, { ...good, raw: `From: x@shop.example.com\n${createNestedMessage(1_200)}\n${MARK}\n` }),
      await submit(relayPort, { ...good, to: createMarkedAddress('relay-unwritable') }),
    ];
    expect(replies).toEqual([
      expect.stringMatching(/^535 /),
      expect.stringMatching(/^553 /),
      expect.stringMatching(/^550 /),
      expect.stringMatching(/^554 /),
      expect.stringMatching(/^451 /),
    ]);
    await waitForLog('SMTP relay');
  });

  it('occur in inbound email: accepted, unreadable, automatic, a report, and one that fails in Postgres', async () => {
    const contactId = await buildContact(service.db, {
      projectId: service.one.id,
      email: createMarkedAddress('bounced'),
    });
    const email = { projectId: service.one.id, contactId, to: createMarkedAddress('bounced'), status: 'SENT' as const };
    const returnPath = createVerpAddress(verpKey, await buildEmail(service.db, email), 'shop.example.com');
    const createRawEmail = (from: string) => `From: ${MARK} <${from}>\nSubject: ${MARK}\n\n${MARK}\n`;
    const deliverRaw = (to: string, raw: string) =>
      submit(inboundPort, { from: createMarkedAddress('sender'), to, raw });
    const auto = `Subject: ${MARK} is away\nAuto-Submitted: auto-replied\n\n${MARK}\n`;
    const diagnostic = `smtp; 550 5.1.1 <${createMarkedAddress('bounced')}>: Ms ${MARK} has left`;
    const odd = formatArf({
      type: createMarkedAddress('type'),
      headers: `From: ${MARK} <${createMarkedAddress('quoted')}>`,
    });
    const replies = [
      await deliverRaw('help@shop.example.com', createRawEmail(createMarkedAddress('author'))),
      await deliverRaw('help@shop.example.com', createNestedMessage(1_200)),
      await deliverRaw('help@shop.example.com', createRawEmail(createMarkedAddress('author-unwritable'))),
      await deliverRaw(`${MARK}@elsewhere.example`, createRawEmail(createMarkedAddress('author'))),
      await deliverRaw(returnPath, auto),
      await deliverRaw(returnPath, odd),
      await deliverRaw(returnPath, formatDsn({ status: '5.1.1', diagnostic, action: createMarkedAddress('action') })),
      await deliverRaw(
        returnPath,
        formatDsn({ status: '5.1.1', diagnostic, recipient: createMarkedAddress('bounced') }),
      ),
      await deliverRaw('help@shop.example.com', formatDsn({ status: '5.1.1', diagnostic })),
    ];
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual([
      ...['250', '554', '451', '550', '250'],
      ...['250', '250', '250', '250'],
    ]);
    await waitForLog('inbound mail');
    await waitForLog('a returned message contains nothing to record', { why: 'an automatic reply' });
  });

  it('occur at Twilio, which refuses an SMS, defers one, and closes a connection', async () => {
    const send = () => expectOk(service.call('POST', '/v1/sms/send', { body: { to: PHONE, body: `Hi ${MARK}` } }));
    twilio.next.push({ status: 400, code: 21211, message: `${PHONE} of Ms ${MARK} is not a valid number` });
    await send();
    await waitForLog('a message has ended', { outcome: 'failed' });
    for (const response of [{ status: 503, code: 20503, message: `${PHONE} of Ms ${MARK} waits` }, 'hangup' as const]) {
      twilio.next.push(response);
      await send();
      await until(() => twilio.next.length === 0, 'the request');
    }
    await until(async () => {
      const found = await operator.client.workflow.count(`WorkflowType = 'smsDelivery'`);
      return found.count > 0;
    }, 'the delivery');
  });

  it('occur at a registered webhook endpoint that returns 503', async () => {
    const body = { url: receiver.url, events: ['*'] };
    const { id } = await expectOk(service.call('POST', '/webhooks', { body }));
    await track(service, createMarkedAddress('hooked'), `${MARK}-event`, { name: MARK, phone: PHONE });
    await until(async () => {
      const { data } = await expectOk(service.call('GET', `/webhooks/${id}/deliveries`));
      return data[0]?.responseStatus === 503;
    }, 'the refused delivery');
  });

  it('occur in a campaign with refused and deferred recipients', async () => {
    const says = { from: 'x@shop.example.com', subject: `Dear ${MARK}`, body: `<p>${MARK} {{name}}</p>` };
    const { data } = await expectOk(service.call('POST', '/campaigns', { body: createCampaignBody(says) }));
    await buildContact(service.db, { projectId: service.one.id, email: createMarkedAddress('news-gone') });
    await expectOk(service.call('POST', `/campaigns/${data.id}/send`, { body: {} }));
    const listErrors = () =>
      service.db.selectFrom('emails').select('error').where('campaign_id', '=', data.id).execute();
    await until(async () => {
      const errorReplies = (await listErrors()).map(({ error }) => error ?? '');
      return ['550 5.1.1', '450 4.2.1'].every((code) => errorReplies.some((error) => error.includes(code)));
    }, 'the replies to the campaign');
  });

  it('occur in workflows that an operator terminates and that recovery repairs', async () => {
    const running = operator.client.workflow.list({
      query: `WorkflowType IN ('emailDelivery', 'smsDelivery', 'campaignSend', 'contactExecution') AND ExecutionStatus = 'Running'`,
    });
    for await (const { workflowId } of running) await operator.terminate(workflowId);
    const recovery = await connectRecovery(service);
    const repaired = await recovery.round();
    await recovery.close();
    lines.push(...repaired.map((line) => JSON.stringify(line)));
    // On a slow machine, the service's own round may repair some of them first.
    for (const repair of [
      'an execution had no running workflow',
      'a campaign had no running workflow',
      'a delivery was terminated or timed out',
    ])
      await until(async () => lines.some((line) => line.includes(repair)) || undefined, repair);
    await operator.runRecovery();
  });

  it('occur when the SMTP server refuses the login', async () => {
    loginRefused = true;
    sink.dropAll();
    const body = { from: 'x@shop.example.com', subject: MARK, body: MARK, to: createMarkedAddress('login') };
    await expectOk(service.call('POST', '/v1/send', { body }));
    await until(async () => {
      const rows = await service.db
        .selectFrom('emails')
        .select('error')
        .where('to_email', '=', createMarkedAddress('login'))
        .execute();
      return rows[0]?.error?.includes('535 5.7.8');
    }, 'the refused login');
  });
});

it('no address, number or text of a person reaches Temporal or a log, whatever fails', async () => {
  // Waits until Temporal has an error of each kind.
  const kept = await until(async () => {
    const text = (await readAllTemporalData(operator.client)).map((run) => run.text).join('\n');
    return (
      ['attempt 1 by smtp', '450 4.2.1', 'HTTP 503', 'FILE_UNREADABLE'].every((part) => text.includes(part)) && text
    );
  }, 'the failures in Temporal');
  expect(MARKS.exec(kept)?.[0]).toBeUndefined();
  expect(lines.filter((line) => MARKS.test(line))).toEqual([]);
});
