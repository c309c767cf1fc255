import { randomUUID } from 'node:crypto';
import { Liquid } from 'liquidjs';
import nodemailer from 'nodemailer';
import { createCampaignComposer } from '../activities/campaigns/message.ts';
import { createSmtpProvider } from '../channels/email/smtp/provider.ts';
import { createCompute } from '../compute/compute.ts';
import { compileForSending } from '../compute/contents.ts';
import type { ClaimedRecipient } from '../db/campaigns/claims.ts';
import { parseConfig } from '../rules/config.ts';
import { NO_TEXT } from '../rules/content/email-text.ts';
import type { SinkProcess } from '../test/support/smtp/sink-process.ts';
import { BODY, SUBJECT } from './campaign-content.ts';

export interface Measured {
  messages: number;
  seconds: number;
  cpuMicros: number;
}

/** The number of messages that a client has in flight: submitted to the mail server and without a reply. */
const IN_FLIGHT = 200;
const CONNECTIONS = 20;
const FROM = 'news@bench.example';
const DATA = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  city: 'London',
  plan: 'pro',
  points: 7,
  company: 'Analytical Engines',
};

/**
 * Measures what most mail programs do: the template is parsed once, the template library renders each message, and the
 * pool of nodemailer composes and sends it.
 */
export async function measureNodemailerAndLiquid(sink: SinkProcess, messages: number): Promise<Measured> {
  const transport = nodemailer.createTransport({
    pool: true,
    host: '127.0.0.1',
    port: sink.port,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  const liquid = new Liquid({ outputEscape: 'escape' });
  const [subject, html] = [liquid.parse(SUBJECT), liquid.parse(BODY)];
  const text = liquid.parse(BODY.replace(/<[^>]+>/g, ' '));
  const send = (n: number, done: () => void) => {
    const variables = { ...DATA, n, unsubscribeUrl: `https://bench.example/u/${n}` };
    const email = {
      from: FROM,
      to: `r${n}@bench.test`,
      subject: liquid.renderSync(subject, variables),
      html: liquid.renderSync(html, variables),
      text: liquid.renderSync(text, variables),
      headers: {
        'List-Unsubscribe': `<${variables.unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    };
    transport.sendMail(email, (error) => {
      if (error) throw error;
      done();
    });
  };
  const measured = await measureSending(messages, send);
  transport.close();
  return measured;
}

/**
 * Measures the work of a worker for an email without the ledger: composing the email and submitting it to the mail
 * server.
 */
export async function measureRawSender(sink: SinkProcess, messages: number): Promise<Measured> {
  const provider = createSmtpProvider({ url: sink.url });
  const config = parseConfig({
    DATABASE_URL: 'postgres://none',
    TEMPORAL_ADDRESS: 'none:1',
    SECRET_KEY: 'a key of the bench only, no secret',
  });
  const content = {
    ...NO_TEXT,
    id: randomUUID(),
    projectId: randomUUID(),
    subject: SUBJECT,
    body: BODY,
    type: 'MARKETING' as const,
    from: FROM,
    templateId: null,
  };
  const compute = createCompute({ cpuMsPerSecond: 0 });
  const work = { projectId: content.projectId, kind: 'bench' };
  const source = { subject: SUBJECT, body: BODY, type: content.type, trackOpens: true, trackClicks: true };
  const ready = await compileForSending(compute, work, source);
  const composer = createCampaignComposer({
    config,
    compute,
    campaignId: randomUUID(),
    stored: { content, ready },
    zone: 'UTC',
  });
  const id = randomUUID();
  const send = (n: number, done: () => void) => {
    const recipient: ClaimedRecipient = {
      id,
      contactId: id,
      email: `r${n}@bench.test`,
      data: null,
      untrustedKeys: [],
      attempts: 1,
      values: (composer.dataKeys === 'all' ? [] : composer.dataKeys).map((key) => Reflect.get(DATA, key)),
    };
    provider.submit(composer.compose(recipient), (result) => {
      if (result.outcome !== 'accepted') throw new Error(JSON.stringify(result));
      done();
    });
  };
  const measured = await measureSending(messages, send);
  await provider.close();
  await compute.close();
  return measured;
}

async function measureSending(messages: number, send: (n: number, done: () => void) => void): Promise<Measured> {
  await sendAll(Math.min(1_000, messages), send); // Warm-up, so that connections are open and the code is compiled.
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await sendAll(messages, send);
  const { user, system } = process.cpuUsage(cpu);
  return { messages, seconds: (performance.now() - startedAt) / 1000, cpuMicros: user + system };
}

function sendAll(count: number, send: (n: number, done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    let next = 0;
    let done = 0;
    const noteReply = (): void => {
      done += 1;
      if (done === count) resolve();
      else if (next < count) send(next++, noteReply);
    };
    while (next < Math.min(IN_FLIGHT, count)) send(next++, noteReply);
  });
}
