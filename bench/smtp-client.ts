import { parseArgs } from 'node:util';
import nodemailer from 'nodemailer';
import { SmtpPool } from '../channels/email/smtp/pool.ts';
import { startSinkProcess } from '../test/support/smtp/sink-process.ts';

/**
 * Compares our SMTP client with nodemailer's pool: the same messages to the same sink process, one client after the
 * other.
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '20000' },
    connections: { type: 'string', default: '20' },
    latency: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
});
const total = Number(values.messages);
const connections = Number(values.connections);
/** The number of messages that a client has in flight: submitted to the mail server and without a reply. */
const IN_FLIGHT = 200;
const FROM = 'bounces@bench.example';
const BODY = `${'The quick brown fox jumps over the lazy dog and runs on and on =\r\n'.repeat(152)}\r\n`; // 10 kB

const sink = await startSinkProcess(['--no-record', `--latency=${values.latency}`]);
const rows: Record<string, string | number>[] = [];
try {
  if (values.only !== 'nodemailer') await measureClient('own client, pipelined', createOwnClient());
  if (values.only !== 'own') await measureClient('nodemailer pool, raw', createNodemailerPool());
  if (rows.length === 2) rows.push({ client: 'own / nodemailer', 'msg/s': calculateRatio() });
  console.table(rows);
} finally {
  await sink.stop();
}

interface Client {
  send(n: number, done: (error: string | null) => void): void;
  close(): Promise<void> | void;
}

function composeMessage(n: number): string {
  const head = `From: Bench <${FROM}>\r\nTo: <to${n}@bench.example>\r\nSubject: Message ${n}\r\nMessage-ID: <${n}@bench.example>\r\n`;
  return `${head}MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n${BODY}`;
}

function createOwnClient(): Client {
  const pool = new SmtpPool({ url: sink.url, connections });
  return {
    send: (n, done) => {
      const data = composeMessage(n);
      pool.submit({ id: String(n), from: FROM, to: `to${n}@bench.example`, data, canonical: true }, (result) =>
        done(result.outcome === 'accepted' ? null : JSON.stringify(result)),
      );
    },
    close: () => pool.close(),
  };
}

function createNodemailerPool(): Client {
  const { port } = sink;
  const transport = nodemailer.createTransport({
    pool: true,
    host: '127.0.0.1',
    port,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  return {
    send: (n, done) => {
      const envelope = { from: FROM, to: `to${n}@bench.example` };
      transport.sendMail({ envelope, raw: composeMessage(n) }, (error) => done(error?.message ?? null));
    },
    close: () => transport.close(),
  };
}

async function measureClient(name: string, client: Client): Promise<void> {
  await sendAll(client, Math.min(2000, total)); // Connections are open and the code is compiled.
  await sink.reset();
  const before = await sink.counts();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await sendAll(client, total);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const { messages, cpuMs } = await sink.counts();
  if (messages !== total) throw new Error(`${name}: the sink has ${messages} of ${total} messages`);
  rows.push({
    client: name,
    'msg/s': Math.round(total / seconds),
    'client CPU µs': Math.round((user + system) / total),
    'sink CPU µs': Math.round(((cpuMs - before.cpuMs) * 1000) / total),
  });
  await client.close();
}

function sendAll(client: Client, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let done = 0;
    const noteReply = (error: string | null): void => {
      done += 1;
      if (error) reject(new Error(error));
      else if (done === count) resolve();
      else if (next < count) client.send(next++, noteReply);
    };
    while (next < Math.min(IN_FLIGHT, count)) client.send(next++, noteReply);
  });
}

function calculateRatio(): number {
  return Math.round((Number(rows[0]?.['msg/s']) / Number(rows[1]?.['msg/s'])) * 10) / 10;
}
