import { once } from 'node:events';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import { createCertificate } from '../test/support/certificate.ts';
import { getMonotonicMs } from '../test/support/smtp/sink-process.ts';
import { startSmtpSink } from '../test/support/smtp/smtp-sink.ts';

/**
 * The SMTP sink in a separate process: its CPU time is not added to the sender's, and it continues when the sender is
 * killed. Prints `{"port":…}` when it listens. It responds with one line of JSON to each of the lines (or messages of a
 * parent process) `counts`, `recipients`, `messages`, `arrivals:<prefix>`, `arrived:<prefix>`,
 * `hold-after:<messages>`, `release` and `reset`. At SIGTERM or SIGINT it prints the counts and ends. `--tls` offers
 * STARTTLS with a self-signed certificate. With `--timed=<prefix>` it notes when the first DATA for each recipient of
 * that prefix ended.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    latency: { type: 'string', default: '0' },
    'no-record': { type: 'boolean', default: false },
    'no-pipelining': { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
    timed: { type: 'string' },
  },
});
/** A pause that is longer than any test. */
const HOLD_MS = 86_400_000;
/** After this number of messages, the sink replies to no packet until `release`. */
let holdAfter = Number.POSITIVE_INFINITY;
/** First arrivals by recipient, in ms of the machine's steady clock, which all processes share. */
const arrivals = new Map<string, number>();

const sink = await startSmtpSink({
  port: Number(values.port),
  latencyMs: Number(values.latency),
  record: !values['no-record'],
  pipelining: !values['no-pipelining'],
  pauseMs: () => (sink.counts.messages >= holdAfter ? HOLD_MS : 0),
  ...(values.tls && { tls: await createCertificate() }),
  replyToMessage: (to) => {
    if (values.timed !== undefined && to.startsWith(values.timed) && !arrivals.has(to))
      arrivals.set(to, getMonotonicMs());
    return null;
  },
});

function respond(request: string): unknown {
  const [verb = '', argument = ''] = request.split(':');
  switch (verb) {
    case 'counts':
      return { ...sink.counts, cpuMs: readOwnCpuMs() };
    case 'recipients':
      return Object.fromEntries(sink.perRecipient());
    case 'messages':
      return sink.messages;
    case 'arrivals':
      return Object.fromEntries([...arrivals].filter(([to]) => to.startsWith(argument)));
    case 'arrived': {
      const times = [...arrivals].filter(([to]) => to.startsWith(argument)).map(([, at]) => at);
      return { count: times.length, lastMs: times.at(-1) ?? null };
    }
    case 'hold-after':
      holdAfter = Number(argument);
      return sink.counts;
    case 'release':
      holdAfter = Number.POSITIVE_INFINITY;
      return sink.counts;
    case 'reset':
      arrivals.clear();
      sink.reset();
      return sink.counts;
    default:
      return { error: `unknown request: ${request}` };
  }
}

function readOwnCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

process.on('message', (request) => process.send?.(respond(String(request))));
process.on('disconnect', () => process.exit(0)); // The parent process has ended, so the sink ends too.
readline.createInterface({ input: process.stdin }).on('line', (line) => print(respond(line.trim())));
print({ port: sink.port });
process.send?.({ port: sink.port });

await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
print(sink.counts);
await sink.close();
process.exit(0);
