import { buildEnvelope, type Envelope } from './envelope.ts';
import type { SmtpSession } from './handshake.ts';
import { buildPayload, type Payload } from './payload.ts';
import { buildRefusal } from './refusal.ts';
import { passResult, passResultLater } from './results.ts';
import type { SmtpJob, SmtpRefusal, SmtpResult, SmtpTimeouts } from './types.ts';

/**
 * The command to which a reply belongs. `empty_message` is the lone dot that ends an empty message. The client sends
 * this dot if the server replies 354 to DATA although the server has refused the recipient.
 */
type Awaited = 'reset' | 'mail' | 'rcpt' | 'data' | 'message' | 'empty_message' | 'quit';

/** Replies with this code or a higher code are refusals. */
const COMMAND_FAILED = 400;
/** The time limit for the reply to QUIT. The limit is short, because nothing depends on this reply. */
const QUIT_MS = 2_000;

/** Describes how a connection broke while it was sending a message. */
export interface ConnectionLoss {
  error: Error;
  /** The server's 421 reply that ended the connection; null if there was no such reply. */
  refusal: SmtpRefusal | null;
  /**
   * True if this message is probably not the cause, so the pool does not count the loss for it. Either an earlier
   * message had no reply yet or got the reply that ended the connection, or the replies did not match the pipelined
   * commands.
   */
  blameless: boolean;
}

/** The interface between a connection and its pool. */
export interface ConnectionOwner {
  /** Takes the next message from the queue. Returns undefined if the queue is empty. */
  take(): SmtpJob | undefined;
  /** Called when the connection broke before the body of this message was sent. */
  returnJob(job: SmtpJob, loss: ConnectionLoss): void;
  /** Called when the server has accepted or refused a message, which shows that the server works. */
  noteProgress(): void;
  /** Called when a reply does not match the pipelined commands. */
  noteReplyMismatch(): void;
  /**
   * Called when the connection broke, or before it sends QUIT. `lost` is true if the connection broke during work, and
   * false if it ended as planned or was idle.
   */
  removeConnection(connection: SmtpConnection, lost: boolean): void;
}

export interface SmtpConnectionOptions {
  timeouts: SmtpTimeouts;
  /** The connection is closed after this many messages; 0 means no limit. */
  maxMessages: number;
}

/**
 * One SMTP session that sends message after message. With PIPELINING, up to two messages are in flight: the connection
 * sends the body of a message and the envelope of the next message in the same write. RFC 2920 §3.1 allows this,
 * because a group of commands may start with a message's content and end with DATA. A message then costs one round trip
 * and one write. Without PIPELINING, every command waits for the reply to the previous command. Replies come in the
 * order of the commands, which `awaited` lists. At most one message is in doubt at any time.
 */
export class SmtpConnection {
  /** Resolves when the socket is closed, and every message has a result or was returned to the pool. */
  readonly ended: Promise<void>;
  private readonly session: SmtpSession;
  private readonly owner: ConnectionOwner;
  private readonly options: SmtpConnectionOptions;
  private readonly awaited: Awaited[] = [];
  /**
   * The commands of the current envelope that are not sent yet, because the client sends each of them only after the
   * reply to the previous command. Always empty with PIPELINING.
   */
  private unsentCommands: { awaited: Awaited; line: string }[] = [];
  /** The message of which the envelope is being sent or has been sent. Its body was not sent yet. */
  private current: SmtpJob | null = null;
  private payload: Payload | null = null;
  /** The first refusal of the current message. */
  private refused: SmtpRefusal | null = null;
  /** The message of which the body was sent. The server's reply has not arrived yet. */
  private sent: SmtpJob | null = null;
  /**
   * Whether the server may still have an open transaction, because it refused a message. Without RSET, the server would
   * then reply 503 to the next MAIL.
   */
  private mustReset = false;
  private isWritingBody = false;
  private isRemoved = false;
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
    session.channel.onClose = (error) => this.handleLoss(error, null);
    session.channel.onTimeout = () => this.handleTimeout();
    this.setReplyDeadline();
  }

  /** True if no message is in flight. */
  get isIdle(): boolean {
    return !this.isRemoved && this.awaited.length === 0;
  }

  /** True if the connection can send an envelope now, even if the last body has no reply yet. */
  get canTakeMessage(): boolean {
    if (this.isRemoved || this.isWritingBody || this.current !== null || this.messagesLeft === 0) return false;
    return this.session.offers.pipelining || this.awaited.length === 0;
  }

  /** Takes a message from the owner if the connection can send one. */
  wake(): void {
    if (!this.canTakeMessage) return;
    const envelope = this.startNextMessage();
    if (envelope !== '') this.session.channel.write(envelope);
    this.setReplyDeadline();
  }

  /** Takes no more messages, waits for the messages in flight, and then sends QUIT. */
  retire(): void {
    this.messagesLeft = 0;
    if (this.isIdle) this.quit();
  }

  /** Ends at once. Each message in flight becomes `in_doubt` or returns to the pool. */
  abort(error: Error): void {
    this.session.channel.destroy(error);
  }

  /** Starts the next message. Returns its first commands, which the caller writes, or '' if no message is waiting. */
  private startNextMessage(): string {
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
    this.unsentCommands = [
      { awaited: 'mail', line: next.mail },
      { awaited: 'rcpt', line: next.rcpt },
      { awaited: 'data', line: 'DATA\r\n' },
    ];
    if (reset !== '') this.unsentCommands.unshift({ awaited: 'reset', line: reset });
    return this.takeNextCommand();
  }

  /**
   * Takes the next message that this server can accept, and returns its envelope. Messages before it that the server
   * cannot accept get a refusal as their result.
   */
  private nextSendable(): Envelope | null {
    for (let job = this.owner.take(); job !== undefined; job = this.owner.take()) {
      const { message } = job;
      const payload = message.payload ?? buildPayload(message.data, message.canonical === true);
      const envelope = buildEnvelope(message.from, message.to, payload, this.session.offers);
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

  private takeNextCommand(): string {
    const next = this.unsentCommands.shift();
    if (next === undefined) return '';
    this.awaited.push(next.awaited);
    return next.line;
  }

  private handleReply(code: number, text: string): void {
    const awaited = this.awaited.shift();
    if (awaited === undefined || code === 421) {
      this.handleSessionEnd(awaited, code, text);
      return;
    }
    if (isReplyMismatch(awaited, code)) {
      const { pipelining } = this.session.offers;
      if (pipelining) this.owner.noteReplyMismatch();
      this.handleLoss(
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
      case 'empty_message':
        this.mustReset = true;
        break;
      case 'quit':
        this.session.channel.destroy(new Error('the connection was returned'));
    }
    this.continueAfterReply();
  }

  private handleCommandReply(awaited: 'mail' | 'rcpt' | 'reset', code: number, text: string): void {
    if (code >= COMMAND_FAILED) {
      this.refused ??= buildRefusal(awaited === 'reset' ? 'mail' : awaited, code, text);
      if (!this.session.offers.pipelining) {
        this.refuseCurrent(this.refused);
        return;
      }
    }
    const line = this.takeNextCommand();
    if (line !== '') this.session.channel.write(line);
  }

  private handleDataReply(code: number, text: string): void {
    if (code !== 354) {
      this.refuseCurrent(this.refused ?? buildRefusal('data', code, text));
      return;
    }
    if (this.refused === null) {
      this.writeBody();
      return;
    }
    // The server requests data although it refused a command of the envelope. Only an empty message ends this
    // transaction.
    this.awaited.push('empty_message');
    this.session.channel.write('.\r\n');
    this.refuseCurrent(this.refused);
  }

  private refuseCurrent(result: SmtpRefusal): void {
    const job = this.current as SmtpJob;
    this.current = null;
    this.payload = null;
    this.unsentCommands = [];
    this.mustReset = true;
    this.settle(job, result);
  }

  private writeBody(): void {
    const { data, end } = this.payload as Payload;
    this.sent = this.current;
    this.current = null;
    this.payload = null;
    this.awaited.push('message');
    this.isWritingBody = true;
    const tail = this.session.offers.pipelining ? end + this.startNextMessage() : end;
    this.isWritingBody = false;
    if (typeof data !== 'string') this.session.channel.writeBoth(data, tail);
    else this.session.channel.write(data + tail);
  }

  private handleMessageReply(code: number, text: string): void {
    const job = this.sent as SmtpJob;
    this.sent = null;
    const isAccepted = code < COMMAND_FAILED;
    this.settle(job, isAccepted ? { outcome: 'accepted', reply: text } : buildRefusal('message', code, text));
  }

  private settle(job: SmtpJob, result: SmtpResult): void {
    this.owner.noteProgress();
    passResult(job, result);
  }

  /**
   * Runs after every reply that does not end the session. Starts the next message and sets the deadline for the next
   * reply, or sends QUIT.
   */
  private continueAfterReply(): void {
    if (this.session.channel.closed) return;
    this.wake();
    if (this.messagesLeft === 0 && this.isIdle) this.quit();
    else this.setReplyDeadline();
  }

  private setReplyDeadline(): void {
    const { timeouts } = this.options;
    const next = this.awaited[0];
    // The parser decodes the text of a reply only if the reply is a refusal, or the reply to a message, which contains
    // the queue id.
    this.session.channel.parser.textFrom = next === 'message' ? 200 : COMMAND_FAILED;
    if (next === undefined) this.session.channel.setDeadline('work', timeouts.idleMs);
    else if (next === 'message') this.session.channel.setDeadline('the reply to the message', timeouts.messageMs);
    else this.session.channel.setDeadline('the reply to MAIL, RCPT or DATA', timeouts.commandMs);
  }

  /**
   * Handles a 421, with which the server ends the session, or a reply that no command waits for. A 421 is the reply to
   * the oldest command without a reply. The server did not process the commands after this command.
   */
  private handleSessionEnd(awaited: Awaited | undefined, code: number, text: string): void {
    const error = new Error(`the server ended the session: ${code} ${text}`);
    const hasEarlierMessage = awaited === 'message';
    this.messagesLeft = 0; // The callbacks below may submit messages, and this connection must not take them.
    if (hasEarlierMessage) this.handleMessageReply(code, text);
    const refusalOfCurrent =
      awaited === 'mail' || awaited === 'rcpt' || awaited === 'data' ? buildRefusal(awaited, code, text) : null;
    this.handleLoss(error, refusalOfCurrent, hasEarlierMessage);
  }

  private handleTimeout(): void {
    if (this.awaited.length === 0) {
      this.quit();
      return;
    }
    const awaitedReply = this.awaited[0] === 'message' ? 'the message' : 'MAIL, RCPT or DATA';
    this.handleLoss(new Error(`timeout: no reply to ${awaitedReply}`), null);
  }

  private quit(): void {
    this.removeFromPool(false);
    this.awaited.push('quit');
    this.session.channel.setDeadline('the reply to QUIT', QUIT_MS);
    this.session.channel.write('QUIT\r\n');
  }

  /**
   * Ends a broken connection. If the body of a message was sent and no reply came, the message is in doubt. If only the
   * envelope was sent, the message is returned to the pool.
   */
  private handleLoss(error: Error, refusal: SmtpRefusal | null, hasEarlierMessage = this.sent !== null): void {
    const { sent, current } = this;
    const wasBusy = hasEarlierMessage || current !== null || this.awaited.length > 0;
    this.sent = null;
    this.current = null;
    this.awaited.length = 0;
    this.removeFromPool(wasBusy);
    this.session.channel.destroy(error);
    if (current !== null) this.owner.returnJob(current, { error, refusal, blameless: hasEarlierMessage });
    if (sent !== null) passResult(sent, { outcome: 'in_doubt', error: error.message });
    this.end();
  }

  private removeFromPool(lost: boolean): void {
    if (this.isRemoved) return;
    this.isRemoved = true;
    this.owner.removeConnection(this, lost);
  }
}

/**
 * Tells whether a reply is neither a refusal nor the expected success. If so, it is unknown to which commands this
 * reply and later replies belong.
 */
function isReplyMismatch(awaited: Awaited, code: number): boolean {
  return code < COMMAND_FAILED && (awaited === 'data' ? code !== 354 : code >= 300);
}
