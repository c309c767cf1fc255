import { setMaxListeners } from 'node:events';
import { parseSmtpUrl } from '../../../rules/emails/smtp-url.ts';
import { Backoff } from './backoff.ts';
import type { ChannelOptions } from './channel.ts';
import { type ConnectionLoss, type ConnectionOwner, SmtpConnection } from './connection.ts';
import { openSession } from './handshake.ts';
import { SmtpHandshakeError } from './handshake-error.ts';
import { JobQueue } from './job-queue.ts';
import { pipeliningDoubts } from './pipelining-doubts.ts';
import { type ProbeEnvelope, type ProbeResult, probe } from './probe.ts';
import { passResult, passResultLater } from './results.ts';
import {
  DEFAULT_TIMEOUTS,
  type SmtpCallback,
  type SmtpJob,
  type SmtpMessage,
  type SmtpResult,
  type SmtpTimeouts,
} from './types.ts';

/**
 * The number of lost connections after which a message is the suspected cause. The first one may be an idle connection
 * that the server had closed, the second one a coincidence.
 */
const MAX_LOSSES = 3;
/** After this many failed attempts to connect, all queued messages get a result, so that callers can defer them. */
const MAX_OPEN_FAILURES = 3;
/**
 * 8 connections used all the capacity of a local server. A distant server replies on each connection only once per
 * round trip, so more help there; Postfix allows a client 50.
 */
const DEFAULT_CONNECTIONS = 20;
const CLOSE_GRACE_MS = 10_000;
/** If a server takes longer, it is probed again later. */
const PROBE_TIMEOUTS = { connectMs: 10_000, greetingMs: 10_000, commandMs: 10_000 };
const WRONG_ORDER =
  'sent replies to pipelined commands in the wrong order, perhaps because of a middlebox; email is sent without pipelining for an hour';

export interface SmtpPoolOptions {
  /** `smtp://user:pass@host:port` or `smtps://…`, see `parseSmtpUrl`. */
  url: string;
  /**
   * The maximum number of connections; default `maxConnections` of the URL, else 20. They are opened on demand and
   * closed when idle.
   */
  connections?: number;
  /**
   * The number of messages after which a connection is closed, for relays that limit it; default `maxMessages` of the
   * URL, else no limit (0).
   */
  maxMessages?: number;
  timeouts?: Partial<SmtpTimeouts>;
  /** Certificates to trust instead of the system's, in PEM. */
  ca?: string;
  /** The name at EHLO, unless the URL has one. */
  ehloName?: string | null;
  /** Receives lines about the server that an operator should know. */
  onNotice?: (notice: string) => void;
}

/** Counts since the pool was created, for metrics. */
export interface SmtpPoolCounts {
  opened: number;
  /** Attempts to connect that failed or were refused. */
  openFailures: number;
  /** Connections that broke while a message was in flight. */
  lost: number;
  /** Messages that returned to the queue because of it. */
  returned: number;
}

/**
 * Sends messages over a few connections to one server. Every message ends in exactly one result. No message is sent
 * twice: only a message that was not sent yet moves to another connection, and at most three times. The caller limits
 * the queue by the number of messages that it submits.
 */
export class SmtpPool {
  readonly counts: SmtpPoolCounts = { opened: 0, openFailures: 0, lost: 0, returned: 0 };
  private readonly channel: ChannelOptions;
  private readonly maxConnections: number;
  private readonly maxMessages: number;
  private readonly queue = new JobQueue();
  private readonly connections: SmtpConnection[] = [];
  private readonly backoff = new Backoff();
  private readonly ending = new Set<Promise<void>>();
  private readonly owner: ConnectionOwner;
  private readonly mayPipeline: () => boolean;
  private opening = 0;
  private openFailuresInARow = 0;
  private retryTimer: NodeJS.Timeout | null = null;
  private readonly closed = new AbortController();
  private closing = false;

  /** @throws Error for a URL that cannot be used */
  constructor(options: SmtpPoolOptions) {
    const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    const parsed = parseSmtpUrl(options.url);
    const endpoint = { ...parsed, clientName: parsed.clientName ?? options.ehloName ?? null };
    this.channel = { endpoint, timeouts, ca: options.ca, lastTls: {} };
    this.maxConnections = Math.max(1, options.connections ?? endpoint.maxConnections ?? DEFAULT_CONNECTIONS);
    this.maxMessages = options.maxMessages ?? endpoint.maxMessages ?? 0;
    setMaxListeners(0, this.closed.signal); // One for each connection being opened.
    const server = `${endpoint.host}:${endpoint.port}`;
    this.mayPipeline = () => !pipeliningDoubts.has(server);
    this.owner = {
      take: () => this.queue.shift(),
      returnJob: (job, loss) => this.returnJob(job, loss),
      progressed: () => this.backoff.succeeded(),
      outOfStep: () => {
        if (pipeliningDoubts.note(server)) options.onNotice?.(`${server} ${WRONG_ORDER}`);
      },
      leaving: (connection, lost) => this.leaving(connection, lost),
    };
  }

  /** Messages that no connection has taken yet. */
  get queued(): number {
    return this.queue.length;
  }

  /** Queues a message; `onResult` is called once, never from within this call. */
  submit(message: SmtpMessage, onResult: SmtpCallback): SmtpJob {
    const job: SmtpJob = { message, onResult, losses: 0, state: 'queued' };
    if (this.closing) {
      passResultLater(job, { outcome: 'unsent', error: 'the pool is closed' });
      return job;
    }
    this.queue.push(job);
    this.dispatch();
    return job;
  }

  /** Removes a message from the queue, which then gets no result. False if a connection already sends it. */
  withdraw(job: SmtpJob): boolean {
    return this.queue.cancel(job);
  }

  /** Sends a message. An abort before a connection takes the message makes it `unsent`. Never rejects. */
  send(message: SmtpMessage, signal?: AbortSignal): Promise<SmtpResult> {
    if (signal?.aborted) return Promise.resolve({ outcome: 'unsent', error: 'aborted' });
    return new Promise((resolve) => {
      const job = this.submit(message, (result) => {
        signal?.removeEventListener('abort', cancel);
        resolve(result);
      });
      const cancel = (): void => {
        if (this.queue.cancel(job)) resolve({ outcome: 'unsent', error: 'aborted' });
      };
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Checks over a separate connection whether the server accepts email for this envelope. */
  probe(envelope: ProbeEnvelope | null, signal: AbortSignal): Promise<ProbeResult> {
    const timeouts = { ...this.channel.timeouts, ...PROBE_TIMEOUTS };
    return probe({ ...this.channel, timeouts }, envelope, signal);
  }

  /** Takes no more messages, ends the queued ones as `unsent`, and waits at most `graceMs` for messages on the wire. */
  async close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.closing = true;
    this.closed.abort();
    if (this.retryTimer) clearTimeout(this.retryTimer);
    this.failQueue({ outcome: 'unsent', error: 'the pool was closed' });
    const open = [...this.connections];
    for (const connection of open) connection.retire();
    const timer = setTimeout(() => {
      for (const connection of open) connection.abort(new Error('the pool was closed'));
    }, graceMs);
    while (this.ending.size > 0) await Promise.all(this.ending);
    clearTimeout(timer);
  }

  /** Finds a connection for queued messages: an idle one, else a new one, else one whose last body has no reply yet. */
  private dispatch(): void {
    if (this.queue.length === 0 || this.closing) return;
    const idle = this.connections.find((connection) => connection.idle);
    if (idle) {
      idle.wake();
      return;
    }
    if (this.connections.length + this.opening < this.maxConnections) {
      if (this.opening < this.queue.length) this.openWhenAllowed();
      return;
    }
    this.connections.find((connection) => connection.hasRoom)?.wake();
  }

  /** Opens a connection now or after the backoff. After failures it opens one at a time, as a probe. */
  private openWhenAllowed(): void {
    if (this.retryTimer !== null || (this.backoff.inARow > 0 && this.opening > 0)) return;
    const waitMs = this.backoff.waitMs;
    if (waitMs === 0) {
      this.track(this.open());
      return;
    }
    this.retryTimer = setTimeout(() => {
      this.retryTimer = null;
      this.dispatch();
    }, waitMs);
  }

  private async open(): Promise<void> {
    this.opening += 1;
    try {
      const { channel, offers } = await openSession(this.channel, this.closed.signal);
      this.opening -= 1;
      const session = { channel, offers: { ...offers, pipelining: offers.pipelining && this.mayPipeline() } };
      this.opened(new SmtpConnection(session, this.owner, this.connectionOptions()));
    } catch (error) {
      this.opening -= 1;
      this.openFailed(error as Error);
    }
  }

  private opened(connection: SmtpConnection): void {
    this.counts.opened += 1;
    this.openFailuresInARow = 0;
    this.connections.push(connection);
    this.track(connection.ended);
    if (this.closing) {
      connection.retire();
      return;
    }
    connection.wake();
    this.dispatch();
  }

  private openFailed(error: Error): void {
    this.counts.openFailures += 1;
    this.openFailuresInARow += 1;
    this.backoff.failed(this.openFailuresInARow);
    if (this.openFailuresInARow >= MAX_OPEN_FAILURES && this.connections.length === 0) {
      this.failQueue(error instanceof SmtpHandshakeError ? error.refusal : { outcome: 'unsent', error: error.message });
    }
    this.dispatch();
  }

  private leaving(connection: SmtpConnection, lost: boolean): void {
    this.connections.splice(this.connections.indexOf(connection), 1);
    if (lost) {
      this.counts.lost += 1;
      this.backoff.failed();
    }
    queueMicrotask(() => this.dispatch()); // Runs after the connection has returned its messages.
  }

  private returnJob(job: SmtpJob, { error, refusal, blameless }: ConnectionLoss): void {
    // Even a loss that this message did not cause leaves another message without a result, so such losses are limited,
    // too.
    if (!blameless) job.losses += 1;
    if (job.losses < MAX_LOSSES && !this.closing) {
      this.counts.returned += 1;
      this.queue.putBack(job);
    } else {
      passResult(job, refusal ?? { outcome: 'unsent', error: error.message });
    }
  }

  private failQueue(result: SmtpResult): void {
    for (const job of this.queue.takeAll()) passResultLater(job, result);
  }

  private connectionOptions() {
    return { timeouts: this.channel.timeouts, maxMessages: this.maxMessages };
  }

  /** Remembers what `close` has to wait for. */
  private track(work: Promise<void>): void {
    this.ending.add(work);
    void work.finally(() => this.ending.delete(work));
  }
}
