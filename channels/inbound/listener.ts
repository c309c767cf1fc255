import type { SMTPServerSession } from 'smtp-server';
import { parseIpAddress } from '../../rules/access/caller-address.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { LimitedSmtpServer } from '../limited-smtp-server.ts';

/**
 * The longest message that the listener accepts. The listener announces this limit as SIZE (RFC 1870). The limit is
 * high, because bounces may contain the returned message with its attachments.
 */
const MESSAGE_MAX_BYTES = 25 * 1024 * 1024;
const RECIPIENTS_MAX = 50;
/**
 * The maximum number of sessions. Together with `MESSAGE_MAX_BYTES`, it limits how much memory unauthenticated senders
 * can fill.
 */
const SESSIONS_MAX = 40;
const IDLE_MS = 60_000;
const CLOSE_MS = 5_000;

/**
 * A handler throws this error for a message that can never be accepted. The listener then replies 554, so the sender
 * does not retry.
 */
export class UnreadableMessageError extends Error {
  readonly responseCode = 554;
}

/** A message that was received over SMTP. */
export interface InboundMessage {
  raw: Buffer;
  /** The envelope sender in lower case. Empty for the null sender, which notifications have. */
  from: string;
  /** The accepted envelope recipients. */
  recipients: string[];
  ip: string;
  helo: string;
  receivedAt: Date;
}

export interface InboundHandler {
  /**
   * Tells whether an address belongs to this service. The listener refuses other addresses at RCPT, so that it is not
   * an open relay.
   */
  accepts(recipient: string): Promise<boolean>;
  /**
   * Stores a message before the listener replies 250. If the promise rejects, the listener replies 451, and the sender
   * retries; after an `UnreadableMessageError`, it replies 554.
   */
  take(message: InboundMessage): Promise<void>;
}

export interface InboundListener {
  port: number;
  /** Accepts no new sessions, and waits up to `CLOSE_MS` for running sessions. */
  close(): Promise<void>;
}

/**
 * Starts the SMTP server for bounces and inbound email. With `port` 0, it uses a free port. With a certificate, it
 * offers STARTTLS.
 */
export async function startInboundListener(p: {
  host: string;
  port: number;
  name: string;
  tls: { cert: string; key: string } | undefined;
  handler: InboundHandler;
  onError: (error: Error) => void;
}): Promise<InboundListener> {
  const { handler, onError } = p;
  const server = new LimitedSmtpServer({
    name: p.name,
    banner: 'Tidings',
    size: MESSAGE_MAX_BYTES,
    sessionsMax: SESSIONS_MAX,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    // Enhanced codes are not announced, because not every reply has one (see the relay's listener).
    hideENHANCEDSTATUSCODES: true,
    disabledCommands: p.tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...p.tls,
    disableReverseLookup: true,
    logger: false,
    onRcptTo: ({ address }, session, done) => {
      if (session.envelope.rcptTo.length >= RECIPIENTS_MAX)
        return done(createSmtpError(452, '4.5.3 Too many recipients'));
      handler.accepts(normalizeEmail(address)).then(
        (accepted) => done(accepted ? null : createSmtpError(550, '5.1.1 No such user here')),
        (error) => {
          onError(error);
          done(createSmtpError(451, '4.3.0 Try again later'));
        },
      );
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MESSAGE_MAX_BYTES) chunks.push(chunk);
      });
      stream.on('error', (error) => done(error));
      stream.on('end', () => {
        if (bytes > MESSAGE_MAX_BYTES) return done(createSmtpError(552, '5.3.4 The message is too large'));
        handler.take(toInboundMessage(Buffer.concat(chunks), session)).then(
          () => done(null, '2.0.0 Taken'),
          (error) => {
            if (error instanceof UnreadableMessageError) return done(error);
            onError(error);
            done(createSmtpError(451, '4.3.0 Try again later'));
          },
        );
      });
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(p.port, p.host, resolve);
  });
  // A client that hangs up during a TLS handshake causes an `error` event. Without this handler, the event would end
  // the process.
  server.off('error', onError).on('error', onError);
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : p.port;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

function toInboundMessage(raw: Buffer, session: SMTPServerSession): InboundMessage {
  const { mailFrom, rcptTo } = session.envelope;
  return {
    raw,
    from: mailFrom ? normalizeEmail(mailFrom.address) : '',
    recipients: rcptTo.map(({ address }) => normalizeEmail(address)),
    ip: parseIpAddress(session.remoteAddress) ?? session.remoteAddress,
    helo: session.hostNameAppearsAs || session.remoteAddress,
    receivedAt: new Date(),
  };
}

function createSmtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
