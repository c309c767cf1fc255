import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SmtpSink, SunkMessage } from './smtp-sink.ts';

/** An SMTP sink in another process, for benches and for tests that kill the sender. */
export interface SinkProcess {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  counts(): Promise<SmtpSink['counts'] & { cpuMs: number }>;
  /** The number of messages for each recipient. */
  recipients(): Promise<Record<string, number>>;
  messages(): Promise<SunkMessage[]>;
  /** The time (`getMonotonicMs`) of the first message of each recipient with this prefix. The sink needs `--timed`. */
  arrivals(prefix: string): Promise<Record<string, number>>;
  /**
   * The number of recipients with this prefix that have a message, and the time of the last of these first messages.
   */
  arrived(prefix: string): Promise<{ count: number; lastMs: number | null }>;
  /**
   * After this number of messages, the sink replies to no packet. A test can then kill the sender while it waits for
   * replies, on a machine of any speed. These replies are never sent.
   */
  holdAfter(messages: number): Promise<void>;
  /** Ends `holdAfter` for later packets. */
  release(): Promise<void>;
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds of the machine's monotonic clock, equal in all processes. */
export function getMonotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Starts `bench/smtp-sink.ts` with the options `args`, such as `--latency=20`. The sink ends with this process. */
export async function startSinkProcess(args: string[] = []): Promise<SinkProcess> {
  const typescript = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(`../../../bench/smtp-sink.${typescript ? 'ts' : 'js'}`, import.meta.url));
  const child = fork(file, args, {
    execArgv: typescript ? ['--import', 'tsx'] : [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { port } = await waitForNextMessage<{ port: number }>(child);
  let last: Promise<unknown> = Promise.resolve();
  const askSink = <T>(request: string): Promise<T> => {
    const result = last.then(() => {
      child.send(request);
      return waitForNextMessage<T>(child);
    });
    last = result; // Sends one request at a time, because responses do not name their request.
    return result;
  };
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    pid: child.pid as number,
    counts: () => askSink('counts'),
    recipients: () => askSink('recipients'),
    messages: () => askSink('messages'),
    arrivals: (prefix) => askSink(`arrivals:${prefix}`),
    arrived: (prefix) => askSink(`arrived:${prefix}`),
    holdAfter: async (messages) => {
      await askSink(`hold-after:${messages}`);
    },
    release: async () => {
      await askSink('release');
    },
    reset: async () => {
      await askSink('reset');
    },
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function waitForNextMessage<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const [message] = await Promise.race([
    once(child, 'message', ended),
    once(child, 'exit', ended).then(() => {
      throw new Error('the sink process ended');
    }),
  ]);
  ended.abort();
  return message as T;
}
