import net from 'node:net';
import tls from 'node:tls';
import type { SmtpEndpoint } from '../../../rules/emails/smtp-url.ts';
import { ReplyParser } from './reply-parser.ts';
import type { SmtpReply, SmtpTimeouts } from './types.ts';
import { computeCheckInterval, Watchdog } from './watchdog.ts';

/**
 * The size of the read buffer of an unencrypted connection, which reuses this buffer for all reads. The buffer is large
 * enough for the replies to a whole group of commands.
 */
const READ_BUFFER_BYTES = 16_384;

/**
 * The number of bytes of a large message that are written to the socket at a time. Without this limit, TLS would
 * encrypt the whole message at once and block the event loop.
 */
const WRITE_BYTES = 256 * 1024;

export interface ChannelOptions {
  endpoint: SmtpEndpoint;
  timeouts: SmtpTimeouts;
  /** The certificates to trust instead of the system's certificates, in PEM. */
  ca?: string | undefined;
  /**
   * The last TLS session with this server, shared by the connections of a pool. The next connection resumes this
   * session, which saves a key exchange (RFC 8446 §2.2).
   */
  lastTls: { session?: Buffer };
}

/**
 * A connection to an SMTP server. The channel writes bytes, parses replies, and has one deadline: the time until which
 * the next reply must arrive. The handshake sends one command at a time with `sendCommand`. After the handshake,
 * `SmtpConnection` sets `onReply` and `onClose`, and matches replies to commands.
 */
export class SmtpChannel {
  onReply: (code: number, text: string) => void = throwUnexpected;
  /** Called once when the connection is closed, with the reason. */
  onClose: (error: Error) => void = () => {};
  /** Called when the deadline passes. If this is null, the channel closes the connection instead. */
  onTimeout: (() => void) | null = null;
  readonly parser: ReplyParser;
  encrypted = false;
  closed = false;
  private readonly options: ChannelOptions;
  private readonly watchdog: Watchdog;
  private socket: net.Socket;
  private waitingFor = 'the connection';
  /** Data that waits until the socket has accepted the previous data. */
  private readonly unwritten: (string | Buffer)[] = [];

  constructor(options: ChannelOptions) {
    this.options = options;
    const { timeouts } = options;
    this.watchdog = new Watchdog(computeCheckInterval(Object.values(timeouts)), () => this.handleTimeout());
    this.parser = new ReplyParser((code, text) => this.onReply(code, text));
    this.socket = options.endpoint.implicitTls ? this.openTls() : this.openPlain();
  }

  /**
   * Waits for the server's greeting. Call this method right after the constructor, because the greeting may arrive
   * together with the last bytes of the TLS handshake.
   * @throws Error if no reply comes within `connectMs` and then `greetingMs`
   */
  waitForGreeting(): Promise<SmtpReply> {
    const { endpoint, timeouts } = this.options;
    this.socket.once(endpoint.implicitTls ? 'secureConnect' : 'connect', () => {
      this.setDeadline('the greeting', timeouts.greetingMs);
    });
    return this.waitForReply('the connection', timeouts.connectMs);
  }

  /** Sends a string with one character per byte. */
  write(bytes: string): void {
    if (this.unwritten.length > 0) this.unwritten.push(bytes);
    else this.socket.write(bytes, 'latin1');
  }

  /** Sends `data` and `end` in one packet. If `data` is large, sends it in pieces. */
  writeBoth(data: Buffer, end: string): void {
    if (data.length > WRITE_BYTES || this.unwritten.length > 0) {
      this.writeInPieces(data, end);
      return;
    }
    this.socket.cork();
    this.socket.write(data);
    this.socket.write(end, 'latin1');
    this.socket.uncork();
  }

  private writeInPieces(data: Buffer, end: string): void {
    const isWriting = this.unwritten.length > 0;
    for (let at = 0; at < data.length; at += WRITE_BYTES) this.unwritten.push(data.subarray(at, at + WRITE_BYTES));
    this.unwritten.push(end);
    if (!isWriting) this.writeNext();
  }

  private writeNext(): void {
    for (let next = this.unwritten[0]; next !== undefined && !this.closed; next = this.unwritten[0]) {
      const canWriteMore = this.socket.write(next, 'latin1');
      // The piece is removed only after it was written, so that `write` appends data to the queue in the meantime.
      this.unwritten.shift();
      if (canWriteMore) continue;
      this.socket.once('drain', () => this.writeNext());
      return;
    }
  }

  /** Sets the deadline for the next reply. `what` names the reply in the error message. */
  setDeadline(what: string, ms: number): void {
    this.waitingFor = what;
    this.watchdog.setDeadline(ms);
  }

  /**
   * Sends one command and waits for its reply. With `dropBuffered`, discards the data that follows the reply in the
   * buffer.
   * @throws Error when the connection ends or the deadline passes
   */
  sendCommand(line: string, what: string, ms: number, dropBuffered = false): Promise<SmtpReply> {
    if (this.closed) return Promise.reject(new Error('the connection is closed'));
    this.write(`${line}\r\n`);
    return this.waitForReply(what, ms, dropBuffered);
  }

  /**
   * Starts TLS (RFC 3207) after the server has replied 220 to STARTTLS.
   * @throws Error when the handshake fails or the certificate is not valid
   */
  startTls(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.setDeadline('the TLS handshake', ms);
      this.onClose = reject;
      this.socket = this.addTlsListeners(tls.connect({ ...this.tlsOptions(), socket: this.socket }));
      this.socket.once('secureConnect', () => {
        this.encrypted = true;
        resolve();
      });
    });
  }

  /** Closes the connection at once. */
  destroy(error: Error): void {
    this.closeWith(error);
  }

  private waitForReply(what: string, ms: number, dropBuffered = false): Promise<SmtpReply> {
    return new Promise((resolve, reject) => {
      this.setDeadline(what, ms);
      this.onClose = reject;
      this.onReply = (code, text) => {
        this.onReply = throwUnexpected;
        if (dropBuffered) this.parser.dropBuffered();
        resolve({ code, text });
      };
    });
  }

  private openPlain(): net.Socket {
    const { host, port } = this.options.endpoint;
    const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.handleData(bytes as Buffer, length); // Node returns the buffer that was passed to it.
      return true;
    };
    return this.addListeners(net.connect({ host, port, onread: { buffer, callback } }));
  }

  private openTls(): net.Socket {
    this.encrypted = true;
    const { host, port } = this.options.endpoint;
    return this.addTlsListeners(tls.connect({ ...this.tlsOptions(), host, port }));
  }

  private tlsOptions(): tls.ConnectionOptions {
    const { endpoint, ca, lastTls } = this.options;
    const servername = net.isIP(endpoint.host) ? undefined : endpoint.host;
    const { host, verifyCertificate: rejectUnauthorized } = endpoint;
    return { rejectUnauthorized, host, servername, ca, session: lastTls.session };
  }

  private addTlsListeners(socket: tls.TLSSocket): net.Socket {
    socket.on('session', (session) => {
      this.options.lastTls.session = session;
    });
    socket.on('data', (chunk: Buffer) => this.handleData(chunk, chunk.length));
    return this.addListeners(socket);
  }

  private addListeners(socket: net.Socket): net.Socket {
    // Switches off Nagle's algorithm: a group of commands is already one write, so waiting for more data would only
    // delay it.
    socket.setNoDelay(true);
    socket.on('error', (error) => this.closeWith(error));
    socket.on('end', () => this.closeWith(null));
    socket.on('close', () => this.closeWith(null));
    return socket;
  }

  private handleData(chunk: Buffer, length: number): void {
    if (this.closed) return;
    try {
      this.parser.feed(chunk, length);
    } catch (error) {
      this.closeWith(error as Error);
    }
  }

  private handleTimeout(): void {
    if (this.onTimeout) this.onTimeout();
    else this.closeWith(new Error(`timeout: ${this.waitingFor} did not come in time`));
  }

  private closeWith(error: Error | null): void {
    if (this.closed) return;
    this.closed = true;
    this.parser.dropBuffered(); // Stops the loop over replies if it is running.
    this.watchdog.stop();
    this.socket.destroy();
    this.onClose(error ?? new Error(`the server closed the connection while ${this.waitingFor} was awaited`));
  }
}

function throwUnexpected(code: number, text: string): never {
  throw new Error(`the server sent an unexpected reply: ${code} ${text}`);
}
