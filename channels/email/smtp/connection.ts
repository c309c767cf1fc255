import { type Envelope, envelopeOf } from './envelope.ts';
import type { SmtpSession } from './handshake.ts';
import { type Payload, payloadOf } from './payload.ts';
import { refusal } from './refusal.ts';
import { passResult, passResultLater } from './results.ts';
import type { SmtpJob, SmtpRefusal, SmtpResult, SmtpTimeouts } from './types.ts';

/**
 * The command that the next reply belongs to. `nothing` is the lone dot after a 354 for a message without remaining
 * recipients.
 */
type Awaited = 'reset' | 'mail' | 'rcpt' | 'data' | 'message' | 'nothing' | 'quit';

const COMMAND_FAILED = 400;
/** QUIT is a courtesy, so its reply is awaited only briefly. */
const QUIT_MS = 2_000;

/** How a connection broke while it had a message. */
export interface ConnectionLoss {
  error: Error;
  /** The 421 that ended the connection, if any. */
  refusal: SmtpRefusal | null;
  /** True if the server was replying to another message, so this message cannot be the cause. */
  blameless: boolean;
}

/** The interface between a connection and its pool. */
export interface ConnectionOwner {
  /** Returns the next message; undefined if the queue is empty. */
  take(): SmtpJob | undefined;
  /** Called when the connection broke before a message was sent. */
  returnJob(job: SmtpJob, loss: ConnectionLoss): void;
  /** Called when a message got a reply, which shows that the server works. */
  progressed(): void;
  /** Called when a reply does not fit the pipelined commands. Messages that are lost now are not the cause. */
  outOfStep(): void;
  /** Called when the connection takes no more messages; `lost` is true unless it ended as planned. */
  leaving(connection: SmtpConnection, lost: boolean): void;
}

export interface SmtpConnectionOptions {
  timeouts: SmtpTimeouts;
  /** The connection is closed after this many messages; 0 means no limit. */
  maxMessages: number;
}

/**
 * One SMTP session that sends message after message. With PIPELINING two are in flight: the body of one is sent in the
 * same write as the envelope of the next (RFC 2920 §3.1 lets a message's content start a group that ends with DATA), so
 * a message costs one round trip and one write. Without it every command waits for the previous reply.
 * Replies come in the order of the commands; `awaited` holds that order. At most one message is in doubt at any time.
 */
export class SmtpConnection {
  /** Fulfilled when the socket is closed and every message has its result or is returned to the pool. */
  readonly ended: Promise<void>;
  private readonly session: SmtpSession;
  private readonly owner: ConnectionOwner;
  private readonly options: SmtpConnectionOptions;
  private readonly awaited: Awaited[] = [];
  /** Commands of the current envelope that wait for the previous reply; always empty with PIPELINING. */
  private steps: { awaited: Awaited; line: string }[] = [];
  /** The message whose envelope was sent and whose body was not. */
  private current: SmtpJob | null = null;
  private payload: Payload | null = null;
  /** The first refusal of the current message. */
  private refused: SmtpRefusal | null = null;
  /** The message whose body was sent and whose reply has not come. */
  private sent: SmtpJob | null = null;
  /** The server still has a transaction that was refused after MAIL. Without RSET, the next MAIL would get a 503. */
  private mustReset = false;
  private writing = false;
  private left = false;
  private messagesLeft: number;
  private end: () => void = () => {};

  constructor(session: SmtpSession, owner: ConnectionOwner, options: SmtpConnectionOptions) {
    this.session = session;
    this.owner = owner;
    this.options = options;
    this.messagesLeft = options.maxMessages || Number.POSITIVE_INFINITY;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    session.channel.onReply = (code, text) => this.handleReply(code, text);
    session.channel.onClose = (error) => this.lost(error, null);
    session.channel.onLate = () => this.late();
    this.expect();
  }

  /** True if no message is in flight. */
  get idle(): boolean {
    return !this.left && this.awaited.length === 0;
  }

  /** True if an envelope can be sent now, possibly after a body that has no reply yet. */
  get hasRoom(): boolean {
    if (this.left || this.writing || this.current !== null || this.messagesLeft === 0) return false;
    return this.session.offers.pipelining || this.awaited.length === 0;
  }

  /** Takes a message from the owner if the connection can send one. */
  wake(): void {
    if (!this.hasRoom) return;
    const envelope = this.begin();
    if (envelope !== '') this.session.channel.write(envelope);
    this.expect();
  }

  /** Takes no more messages, finishes the ones in flight, then sends QUIT. */
  retire(): void {
    this.messagesLeft = 0;
    if (this.idle) this.quit();
  }

  /** Ends at once. Each message in flight becomes `in_doubt` or returns to the pool. */
  abort(error: Error): void {
    this.session.channel.destroy(error);
  }

  /** Starts the next message. Returns the data to write for it, or '' if no message is waiting. */
  private begin(): string {
    if (this.messagesLeft === 0) return '';
    const next = this.nextSendable();
    if (next === null) return '';
    this.messagesLeft -= 1;
    const reset = this.mustReset ? 'RSET\r\n' : '';
    this.mustReset = false;
    if (this.session.offers.pipelining) {
      if (reset !== '') this.awaited.push('reset');
      this.awaited.push('mail', 'rcpt', 'data');
      return `${reset}${next.mail}${next.rcpt}DATA\r\n`;
    }
    this.steps = [
      { awaited: 'mail', line: next.mail },
      { awaited: 'rcpt', line: next.rcpt },
      { awaited: 'data', line: 'DATA\r\n' },
    ];
    if (reset !== '') this.steps.unshift({ awaited: 'reset', line: reset });
    return this.step();
  }

  /** Returns the next message that this server can accept; the others are refused. */
  private nextSendable(): Envelope | null {
    for (let job = this.owner.take(); job !== undefined; job = this.owner.take()) {
      const { message } = job;
      const payload = message.payload ?? payloadOf(message.data, message.canonical === true);
      const envelope = envelopeOf(message.from, message.to, payload, this.session.offers);
      if ('mail' in envelope) {
        this.current = job;
        this.payload = payload;
        this.refused = null;
        return envelope;
      }
      passResultLater(job, envelope);
    }
    return null;
  }

  private step(): string {
    const next = this.steps.shift();
    if (next === undefined) return '';
    this.awaited.push(next.awaited);
    return next.line;
  }

  private handleReply(code: number, text: string): void {
    const awaited = this.awaited.shift();
    if (awaited === undefined || code === 421) {
      this.serviceEnds(awaited, code, text);
      return;
    }
    if (isOutOfStep(awaited, code)) {
      const { pipelining } = this.session.offers;
      if (pipelining) this.owner.outOfStep();
      this.lost(
        new Error(`the server's replies do not match the commands: ${code} ${text}`),
        null,
        pipelining || this.sent !== null,
      );
      return;
    }
    switch (awaited) {
      case 'mail':
      case 'rcpt':
      case 'reset':
        this.handleCommandReply(awaited, code, text);
        break;
      case 'data':
        this.handleDataReply(code, text);
        break;
      case 'message':
        this.handleMessageReply(code, text);
        break;
      case 'nothing':
        this.mustReset = true;
        break;
      case 'quit':
        this.session.channel.destroy(new Error('the connection was returned'));
    }
    this.proceed();
  }

  private handleCommandReply(awaited: 'mail' | 'rcpt' | 'reset', code: number, text: string): void {
    if (code >= COMMAND_FAILED) {
      this.refused ??= refusal(awaited === 'reset' ? 'mail' : awaited, code, text);
      if (!this.session.offers.pipelining) {
        this.refuseCurrent(this.refused);
        return;
      }
    }
    const line = this.step();
    if (line !== '') this.session.channel.write(line);
  }

  private handleDataReply(code: number, text: string): void {
    if (code !== 354) {
      this.refuseCurrent(this.refused ?? refusal('data', code, text));
      return;
    }
    if (this.refused === null) {
      this.writeBody();
      return;
    }
    this.awaited.push('nothing'); // The server asks for data although it accepted no recipient. Only an empty message ends this transaction.
    this.session.channel.write('.\r\n');
    this.refuseCurrent(this.refused);
  }

  private refuseCurrent(result: SmtpRefusal): void {
    const job = this.current as SmtpJob;
    this.current = null;
    this.payload = null;
    this.steps = [];
    this.mustReset = true;
    this.settle(job, result);
  }

  private writeBody(): void {
    const { data, end } = this.payload as Payload;
    this.sent = this.current;
    this.current = null;
    this.payload = null;
    this.awaited.push('message');
    this.writing = true;
    const tail = this.session.offers.pipelining ? end + this.begin() : end;
    this.writing = false;
    if (typeof data !== 'string') this.session.channel.writeBoth(data, tail);
    else this.session.channel.write(data + tail);
  }

  private handleMessageReply(code: number, text: string): void {
    const job = this.sent as SmtpJob;
    this.sent = null;
    const taken = code < COMMAND_FAILED;
    this.settle(job, taken ? { outcome: 'accepted', reply: text } : refusal('message', code, text));
  }

  private settle(job: SmtpJob, result: SmtpResult): void {
    this.owner.progressed();
    passResult(job, result);
  }

  /** Runs after every reply: takes a message, sets the deadline for the next reply, or quits. */
  private proceed(): void {
    if (this.session.channel.closed) return;
    this.wake();
    if (this.messagesLeft === 0 && this.idle) this.quit();
    else this.expect();
  }

  private expect(): void {
    const { timeouts } = this.options;
    const next = this.awaited[0];
    // The text of a reply is read only for refusals, and for the queue id in the reply to the message.
    this.session.channel.parser.textFrom = next === 'message' ? 200 : COMMAND_FAILED;
    if (next === undefined) this.session.channel.await('work', timeouts.idleMs);
    else if (next === 'message') this.session.channel.await('the reply to the message', timeouts.messageMs);
    else this.session.channel.await('the reply to MAIL, RCPT or DATA', timeouts.commandMs);
  }

  /**
   * Handles the end of the session by the server (421) or an unexpected reply. The reply belongs to the command that
   * waits for one; the server did not process the commands after it.
   */
  private serviceEnds(awaited: Awaited | undefined, code: number, text: string): void {
    const error = new Error(`the server ended the session: ${code} ${text}`);
    const behind = awaited === 'message';
    this.messagesLeft = 0; // A callback below may submit messages, which this connection must not take.
    if (behind) this.handleMessageReply(code, text);
    const about = awaited === 'mail' || awaited === 'rcpt' || awaited === 'data' ? refusal(awaited, code, text) : null;
    this.lost(error, about, behind);
  }

  private late(): void {
    if (this.awaited.length === 0) {
      this.quit();
      return;
    }
    const what = this.awaited[0] === 'message' ? 'the message' : 'MAIL, RCPT or DATA';
    this.lost(new Error(`timeout: no reply to ${what}`), null);
  }

  private quit(): void {
    this.leave(false);
    this.awaited.push('quit');
    this.session.channel.await('the reply to QUIT', QUIT_MS);
    this.session.channel.write('QUIT\r\n');
  }

  /**
   * Ends a broken connection. A message whose body was sent without a reply is in doubt; a message with only an
   * envelope is not.
   */
  private lost(error: Error, refusal: SmtpRefusal | null, behind = this.sent !== null): void {
    const { sent, current } = this;
    const busy = behind || current !== null || this.awaited.length > 0;
    this.sent = null;
    this.current = null;
    this.awaited.length = 0;
    this.leave(busy);
    this.session.channel.destroy(error);
    if (current !== null) this.owner.returnJob(current, { error, refusal, blameless: behind });
    if (sent !== null) passResult(sent, { outcome: 'in_doubt', error: error.message });
    this.end();
  }

  private leave(lost: boolean): void {
    if (this.left) return;
    this.left = true;
    this.owner.leaving(this, lost);
  }
}

/**
 * Recognizes a reply that is neither a refusal nor the expected success. The order of replies is then no longer
 * known.
 */
function isOutOfStep(awaited: Awaited, code: number): boolean {
  return code < COMMAND_FAILED && (awaited === 'data' ? code !== 354 : code >= 300);
}
