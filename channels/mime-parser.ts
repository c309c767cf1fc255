import { Worker } from 'node:worker_threads';
import PostalMime, { type Email } from 'postal-mime';
import { addMissingCharset, withUtf8Header } from '../rules/mime/header-charset.ts';
import { replaceC1Controls } from '../rules/mime/windows-1252.ts';

const OPTIONS = {
  forceRfc822Attachments: true,
  attachmentEncoding: 'arraybuffer',
  /** The maximum depth of nested parts. No email client nests parts more deeply. */
  maxNestingDepth: 30,
  maxHeadersSize: 256 * 1024,
} as const;
/**
 * Messages of at least this size are parsed in a thread. The parser takes 30 ms per megabyte of attachments, and 300 ms
 * per megabyte of short lines, so a smaller message blocks the process only briefly.
 */
const THREAD_MIN_BYTES = 32 * 1024;
/**
 * The time limit of the parser. A file of 40 MB takes about a second. Empty parts take 4 seconds per megabyte, but only
 * an attacker sends many empty parts.
 */
const PARSE_MAX_MS = 20_000;
const THREAD_HEAP_MB = 512;

/**
 * Parses a message. Large messages are parsed in a thread, one at a time, so that they do not block the process.
 * @throws Error if the message is nested too deeply, has too large headers, or takes too long
 */
export async function parseMime(bytes: Buffer): Promise<Email> {
  const raw = addMissingCharset(withUtf8Header(bytes));
  return correctLetters(await (raw.length < THREAD_MIN_BYTES ? PostalMime.parse(raw, OPTIONS) : thread.parse(raw)));
}

/**
 * Corrects text that the parser has decoded from Windows-1252. For some letters of this charset, such as quotes and the
 * euro sign, the parser returns control characters.
 */
function correctLetters(email: Email): Email {
  const { subject, text, html, from, attachments } = email;
  return {
    ...email,
    ...(subject !== undefined && { subject: replaceC1Controls(subject) }),
    ...(text !== undefined && { text: replaceC1Controls(text) }),
    ...(html !== undefined && { html: replaceC1Controls(html) }),
    ...(from && { from: { ...from, name: replaceC1Controls(from.name) } }),
    attachments: attachments.map((file) => ({
      ...file,
      filename: file.filename === null ? null : replaceC1Controls(file.filename),
    })),
  };
}

interface Job {
  raw: Buffer;
  resolve: (email: Email) => void;
  reject: (error: Error) => void;
}

type ThreadResult = { email: Email } | { fault: string };

/**
 * The parser's thread. The thread starts with the first large message. It keeps the process alive only while it parses
 * a message.
 */
const thread = createParserThread();

function createParserThread(): { parse(raw: Buffer): Promise<Email> } {
  const waiting: Job[] = [];
  let worker: Worker | undefined;
  let current: { job: Job; timer: NodeJS.Timeout } | undefined;

  function start(): Worker {
    const url = new URL('./mime-parser-thread.mjs', import.meta.url);
    const started = new Worker(url, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB } });
    started.on('message', (result: ThreadResult) => {
      if ('email' in result) finish(({ resolve }) => resolve(result.email));
      else finish(({ reject }) => reject(new Error(result.fault)));
    });
    // The thread probably ran out of memory. The next message gets a new thread.
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
    startNextJob();
  }

  function giveUp(reason: string): void {
    void worker?.terminate();
    worker = undefined;
    finish(({ reject }) => reject(new Error(reason)));
  }

  function startNextJob(): void {
    if (current) return;
    const job = waiting.shift();
    if (!job) return;
    current = { job, timer: setTimeout(() => giveUp('parsing takes too long'), PARSE_MAX_MS) };
    worker ??= start();
    worker.ref();
    // Copies the bytes, because they may be part of a larger buffer, which cannot be transferred to the thread.
    const raw = new Uint8Array(job.raw);
    worker.postMessage({ raw, options: OPTIONS }, [raw.buffer]);
  }

  return {
    parse: (raw) =>
      new Promise((resolve, reject) => {
        waiting.push({ raw, resolve, reject });
        startNextJob();
      }),
  };
}
