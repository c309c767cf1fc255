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
 * After this many lost connections, the pool suspects that the message is the cause, and does not move it to another
 * connection. The first loss may be an idle connection that the server had closed, and the second loss a coincidence.
 */
const MAX_LOSSES = 3;
/**
 * After this many failed attempts to connect in a row, if no connection is open, all queued messages get a result, so
 * that callers can defer them.
 */
const MAX_OPEN_FAILURES = 3;
/**
 * The default number of connections. In a measurement, 8 connections used all the capacity of a local server. More
 * connections help with a distant server, because it replies on each connection only once per round trip. Postfix
 * allows 50 connections from a client.
 */
const DEFAULT_CONNECTIONS = 20;
const CLOSE_GRACE_MS = 10_000;
/** The timeouts of a probe. If the server is slower, the probe fails and is repeated later. */
const PROBE_TIMEOUTS = { connectMs: 10_000, greetingMs: 10_000, commandMs: 10_000 };
const WRONG_ORDER =
  'sent replies to pipelined commands in the wrong order, perhaps because of a middlebox; email is sent without pipelining for an hour';

export interface SmtpPoolOptions {
  /** `smtp://user:pass@host:port` or `smtps://…`, see `parseSmtpUrl`. */
  url: string;
  /**
   * The maximum number of connections. The default is `maxConnections` of the URL, or else 20. The pool opens
   * connections on demand and closes idle connections.
   */
  connections?: number;
  /**
   * A connection is closed after this many messages, because some relays limit them. The default is `maxMessages` of
   * the URL, or else 0, which means no limit.
   */
  maxMessages?: number;
  timeouts?: Partial<SmtpTimeouts>;
  /** Certificates to trust instead of the system's, in PEM. */
  ca?: string;
  /** The name at EHLO, unless the URL has one. */
  ehloName?: string | null;
  /** Receives notices about the server that an operator should see. */
  onNotice?: (notice: string) => void;
}

/** Counts for metrics, since the pool was created. */
export interface SmtpPoolCounts {
  opened: number;
  /** Attempts to connect that failed or were refused. */
  openFailures: number;
  /** Connections that broke while a message was in flight. */
  lost: number;
  /** Messages that returned to the queue because their connection broke. */
  returned: number;
}

/**
 * Sends messages over a few connections to one server. Every message gets exactly one result, unless the caller
 * withdraws it. The pool sends no message twice: it moves a message to another connection only if the body was not sent
 * yet. After three broken connections that the message may have caused, it gives up. The caller limits the length of
 * the queue.
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
    setMaxListeners(0, this.closed.signal); // Each connection that is being opened adds a listener.
    const server = `${endpoint.host}:${endpoint.port}`;
    this.mayPipeline = () => !pipeliningDoubts.has(server);
    this.owner = {
      take: () => this.queue.shift(),
      returnJob: (job, loss) => this.returnJob(job, loss),
      noteProgress: () => this.backoff.noteSuccess(),
      noteReplyMismatch: () => {
        if (pipeliningDoubts.add(server)) options.onNotice?.(`${server} ${WRONG_ORDER}`);
      },
      removeConnection: (connection, lost) => this.removeConnection(connection, lost),
    };
  }

  /** The number of messages that no connection has taken yet. */
  get queued(): number {
    return this.queue.length;
  }

  /** Queues a message. Calls `onResult` once, after this call has returned. */
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

  /**
   * Removes a message from the queue. The message then gets no result. Returns false if a connection has already taken
   * the message.
   */
  withdraw(job: SmtpJob): boolean {
    return this.queue.cancel(job);
  }

  /**
   * Sends a message. If `signal` is aborted before a connection takes the message, the result is `unsent`. Never
   * rejects.
   */
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

  /**
   * Accepts no more messages, gives queued messages the result `unsent`, and waits at most `graceMs` for messages on
   * the wire.
   */
  async close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.closing = true;
    this.closed.abort();
    if (this.retryTimer) clearTimeout(this.retryTimer);
    this.failQueue({ outcome: 'unsent', error: 'the pool was closed' });
    const connections = [...this.connections];
    for (const connection of connections) connection.retire();
    const timer = setTimeout(() => {
      for (const connection of connections) connection.abort(new Error('the pool was closed'));
    }, graceMs);
    while (this.ending.size > 0) await Promise.all(this.ending);
    clearTimeout(timer);
  }

  /**
   * Finds a connection for queued messages. Prefers an idle connection, then a new connection, then a connection whose
   * last message has no reply yet.
   */
  private dispatch(): void {
    if (this.queue.length === 0 || this.closing) return;
    const idle = this.connections.find((connection) => connection.isIdle);
    if (idle) {
      idle.wake();
      return;
    }
    if (this.connections.length + this.opening < this.maxConnections) {
      if (this.opening < this.queue.length) this.openWhenAllowed();
      return;
    }
    this.connections.find((connection) => connection.canTakeMessage)?.wake();
  }

  /**
   * Opens a connection, at once or when the backoff allows it. After a failure, opens only one connection at a time, to
   * test the server.
   */
  private openWhenAllowed(): void {
    if (this.retryTimer !== null || (this.backoff.failuresInARow > 0 && this.opening > 0)) return;
    const waitMs = this.backoff.waitMs;
    if (waitMs === 0) {
      this.track(this.openConnection());
      return;
    }
    this.retryTimer = setTimeout(() => {
      this.retryTimer = null;
      this.dispatch();
    }, waitMs);
  }

  private async openConnection(): Promise<void> {
    this.opening += 1;
    try {
      const { channel, offers } = await openSession(this.channel, this.closed.signal);
      this.opening -= 1;
      const session = { channel, offers: { ...offers, pipelining: offers.pipelining && this.mayPipeline() } };
      this.addConnection(new SmtpConnection(session, this.owner, this.connectionOptions()));
    } catch (error) {
      this.opening -= 1;
      this.handleOpenFailure(error as Error);
    }
  }

  private addConnection(connection: SmtpConnection): void {
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

  private handleOpenFailure(error: Error): void {
    this.counts.openFailures += 1;
    this.openFailuresInARow += 1;
    this.backoff.noteFailure(this.openFailuresInARow);
    if (this.openFailuresInARow >= MAX_OPEN_FAILURES && this.connections.length === 0) {
      this.failQueue(error instanceof SmtpHandshakeError ? error.refusal : { outcome: 'unsent', error: error.message });
    }
    this.dispatch();
  }

  private removeConnection(connection: SmtpConnection, lost: boolean): void {
    this.connections.splice(this.connections.indexOf(connection), 1);
    if (lost) {
      this.counts.lost += 1;
      this.backoff.noteFailure();
    }
    queueMicrotask(() => this.dispatch()); // Runs after the connection has returned its messages.
  }

  private returnJob(job: SmtpJob, { error, refusal, blameless }: ConnectionLoss): void {
    // A loss that another message caused does not count here. The number of these losses is still limited, because each
    // of them also ends an earlier message of the same connection, or switches off pipelining.
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

  /** Registers work that `close` waits for. */
  private track(work: Promise<void>): void {
    this.ending.add(work);
    void work.finally(() => this.ending.delete(work));
  }
}
