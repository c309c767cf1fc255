import { finished } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { isLoopbackAddress, parseIpAddress } from '../../rules/access/caller-address.ts';
import { LimitedSmtpServer } from '../limited-smtp-server.ts';

/**
 * The longest message that the relay accepts. The relay announces this limit as SIZE (RFC 1870). A message that the
 * service composes for `POST /v1/send` has the same limit.
 */
export const RELAY_MAX_BYTES = 40 * 1024 * 1024;
const RECIPIENTS_MAX = 1_000;
const SESSIONS_MAX = 200;
/**
 * The maximum size of all messages that clients are sending at the same time. This value limits the memory that clients
 * can fill.
 */
const BUFFERED_MAX_BYTES = 4 * RELAY_MAX_BYTES;
const IDLE_MS = 60_000;
/**
 * When the process ends, messages that are being received have this long to get their reply. This time is less than the
 * 4 s that `npm start` gives the API to end.
 */
const CLOSE_MS = 3_000;
const CLOSE_POLL_MS = 20;

/** A refusal as an error: the reply code, and a text that starts with the enhanced code (RFC 3463). */
export class RelayRefusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.name = 'RelayRefusal';
    this.responseCode = responseCode;
  }
}

export interface RelayMessage {
  raw: Buffer;
  /** The password with which the session signed in. */
  key: string;
  /** The envelope sender; empty for the null sender. */
  from: string;
  recipients: string[];
}

export interface RelayHandler {
  /** @throws RelayRefusal when the key may not send */
  signIn(key: string): Promise<void>;
  /** @throws RelayRefusal */
  checkRecipient(address: string): void;
  /**
   * Stores a message before the relay replies 250, and returns the text of that reply.
   * @throws RelayRefusal; the relay replies 451 to any other error
   */
  take(message: RelayMessage): Promise<string>;
}

export interface RelayListener {
  port: number;
  /** Accepts no new sessions, replies to the incoming messages for up to `CLOSE_MS`, and disconnects. */
  close(): Promise<void>;
}

export interface RelayOptions {
  host: string;
  /** 0 means a free port. */
  port: number;
  name: string;
  /** STARTTLS is offered if this is set. */
  tls: { cert: string; key: string } | undefined;
  /** Whether the relay accepts passwords without TLS from other machines. */
  allowPlain: boolean;
  handler: RelayHandler;
  onError: (error: Error) => void;
}

/**
 * Starts the SMTP relay for programs that send email over SMTP. The relay accepts passwords over TLS. Without TLS, it
 * accepts passwords only from this machine (loopback), or from any host if the operator allows it.
 */
export async function startRelayListener(p: RelayOptions): Promise<RelayListener> {
  const load: Load = { bytes: 0, messages: 0 };
  const server = new LimitedSmtpServer({
    name: p.name,
    banner: 'Tidings relay',
    size: RELAY_MAX_BYTES,
    sessionsMax: SESSIONS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    hideSMTPUTF8: true, // UTF-8 local parts are refused.
    // RFC 2034 §4 requires an enhanced code in every reply, but the library's replies to errors of syntax and order
    // have none.
    hideENHANCEDSTATUSCODES: true,
    ...p.tls,
    disableReverseLookup: true,
    logger: false,
    ...createAuthOptions(p),
    ...createReceiveOptions(p, load),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(p.port, p.host, resolve);
  });
  // A client that hangs up during a TLS handshake causes an `error` event. Without a handler, the event would end the
  // process.
  server.on('error', p.onError);
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : p.port;
  return {
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const deadline = Date.now() + CLOSE_MS;
      while (load.messages > 0 && Date.now() < deadline) await sleep(CLOSE_POLL_MS);
      // All replies are written now, or the deadline has passed. A client that keeps its connection open for its next
      // message has to open a new connection.
      server.hangUp();
      await closed;
    },
  };
}

/**
 * Returns the options for signing in. The server does not offer AUTH to a session whose password would cross a network
 * unencrypted.
 */
function createAuthOptions({ handler, tls, allowPlain, onError }: RelayOptions): SMTPServerOptions {
  const withoutTls = tls ? [] : ['STARTTLS'];
  return {
    authMethods: ['PLAIN', 'LOGIN'],
    authOptional: true, // Sessions without authentication are refused at MAIL FROM, with an enhanced code.
    allowInsecureAuth: true,
    onConnect: (session, done) => {
      const plain = allowPlain || isLoopback(session.remoteAddress);
      Object.assign(session, { disabledCommands: plain ? withoutTls : [...withoutTls, 'AUTH'] });
      done();
    },
    onSecure: (_socket, session, done) => {
      Object.assign(session, { disabledCommands: withoutTls });
      done();
    },
    onAuth: ({ password }, _session, done) => {
      const key = password ?? '';
      waitForRefusal(handler.signIn(key), onError).then((refusal) => done(refusal, { user: key }));
    },
    onMailFrom: (_address, { user }, done) =>
      done(user ? null : new RelayRefusal(530, '5.7.0 Sign in first: any user name, an API key as password')),
  };
}

function isLoopback(remoteAddress: string): boolean {
  return isLoopbackAddress(parseIpAddress(remoteAddress) ?? '');
}

/** The messages that clients are sending at the moment, over all connections. */
interface Load {
  /** The bytes in memory. */
  bytes: number;
  messages: number;
}

function createReceiveOptions({ handler, onError }: RelayOptions, load: Load): SMTPServerOptions {
  return {
    onRcptTo: ({ address }, { envelope }, done) => {
      const isFull = envelope.rcptTo.length >= RECIPIENTS_MAX;
      const check = async () => {
        if (isFull) throw new RelayRefusal(452, '4.5.3 Too many recipients');
        handler.checkRecipient(address);
      };
      waitForRefusal(check(), onError).then((refusal) => done(refusal));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let isFull = false;
      load.messages += 1;
      stream.on('data', (chunk: Buffer) => {
        isFull ||= load.bytes + chunk.length > BUFFERED_MAX_BYTES;
        // A message that is too large is read to its end and discarded.
        if (isFull || bytes + chunk.length > RELAY_MAX_BYTES) return;
        load.bytes += chunk.length;
        bytes += chunk.length;
        chunks.push(chunk);
      });
      const acceptMessage = async () => {
        if (stream.sizeExceeded) throw new RelayRefusal(552, '5.3.4 The message is larger than 40 MB');
        if (isFull) throw new RelayRefusal(452, '4.3.1 Too many messages at a time, try again later');
        return handler.take(toRelayMessage(Buffer.concat(chunks), session));
      };
      const release = () => {
        load.messages -= 1;
        load.bytes -= bytes;
      };
      finished(stream, (error) => {
        if (error) return release(); // The client hung up in the middle.
        const taken = acceptMessage();
        waitForRefusal(taken, onError)
          .then(async (refusal) => (refusal ? done(refusal) : done(null, await taken)))
          .finally(release);
      });
    },
  };
}

/**
 * Waits for a handler. Returns null if the handler succeeds, and otherwise the refusal for the client. After an
 * unexpected error, the refusal is a 451, which makes the client retry.
 */
async function waitForRefusal(work: Promise<unknown>, onError: (error: Error) => void): Promise<RelayRefusal | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof RelayRefusal) return error;
    onError(error instanceof Error ? error : new Error(String(error)));
    return new RelayRefusal(451, '4.3.0 Something went wrong on our side, try again later');
  }
}

function toRelayMessage(raw: Buffer, { envelope, user }: SMTPServerSession): RelayMessage {
  return {
    raw,
    key: user ?? '',
    from: envelope.mailFrom ? envelope.mailFrom.address : '',
    recipients: envelope.rcptTo.map(({ address }) => address),
  };
}
