import { Worker } from 'node:worker_threads';
import PostalMime, { type Email } from 'postal-mime';

const OPTIONS = {
  forceRfc822Attachments: true,
  attachmentEncoding: 'arraybuffer',
  /** More levels of parts than any mail program writes. */
  maxNestingDepth: 30,
  maxHeadersSize: 256 * 1024,
} as const;
/**
 * The parser takes 30 ms per megabyte of attachments, 300 ms for short lines. A smaller message blocks only briefly
 * and needs no thread.
 */
const THREAD_MIN_BYTES = 32 * 1024;
/**
 * 40 MB of a file take a good second. It takes 4 seconds a megabyte of empty parts, which nobody sends for a good
 * reason.
 */
const PARSE_MAX_MS = 20_000;
const THREAD_HEAP_MB = 512;

/**
 * Parses a message without blocking the process: a larger one in a thread of its own, one at a time.
 * @throws Error for a message that is nested too deeply, has too many headers or takes too long
 */
export function parseMime(raw: Buffer): Promise<Email> {
  return raw.length < THREAD_MIN_BYTES ? PostalMime.parse(raw, OPTIONS) : thread.parse(raw);
}

interface Job {
  raw: Buffer;
  resolve: (email: Email) => void;
  reject: (error: Error) => void;
}

type Answer = { email: Email } | { fault: string };

/** Started when the first message needs it; it keeps the process alive only while it works. */
const thread = createParserThread();

function createParserThread(): { parse(raw: Buffer): Promise<Email> } {
  const waiting: Job[] = [];
  let worker: Worker | undefined;
  let current: { job: Job; timer: NodeJS.Timeout } | undefined;

  function start(): Worker {
    const url = new URL('./mime-parser-thread.mjs', import.meta.url);
    const started = new Worker(url, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB } });
    started.on('message', (answer: Answer) => {
      if ('email' in answer) finish(({ resolve }) => resolve(answer.email));
      else finish(({ reject }) => reject(new Error(answer.fault)));
    });
    // It ran out of memory, most likely: the next message gets a new one.
    started.on('error', (error) => {
      if (started === worker) giveUp(error.message);
    });
    return started;
  }

  function finish(settle: (job: Job) => void): void {
    if (!current) return;
    clearTimeout(current.timer);
    settle(current.job);
    current = undefined;
    worker?.unref();
    pump();
  }

  function giveUp(reason: string): void {
    void worker?.terminate();
    worker = undefined;
    finish(({ reject }) => reject(new Error(reason)));
  }

  function pump(): void {
    if (current) return;
    const job = waiting.shift();
    if (!job) return;
    current = { job, timer: setTimeout(() => giveUp('it takes too long to take apart'), PARSE_MAX_MS) };
    worker ??= start();
    worker.ref();
    // A copy of its own, to be handed over: the bytes here may be a part of others.
    const raw = new Uint8Array(job.raw);
    worker.postMessage({ raw, options: OPTIONS }, [raw.buffer]);
  }

  return {
    parse: (raw) =>
      new Promise((resolve, reject) => {
        waiting.push({ raw, resolve, reject });
        pump();
      }),
  };
}
