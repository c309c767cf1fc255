import type { SMTPServerSession } from 'smtp-server';
import { plainAddress } from '../../rules/access/caller-address.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { LimitedSmtpServer } from '../limited-smtp-server.ts';

/** Announced as SIZE and kept to (RFC 1870); notifications return a message with its attachments. */
const MESSAGE_MAX_BYTES = 25 * 1024 * 1024;
const RECIPIENTS_MAX = 50;
/** Limits, together with the size, how much memory unauthenticated senders can fill. */
const PLACES = 40;
const IDLE_MS = 60_000;
const CLOSE_MS = 5_000;

/** Thrown by a handler for a message that can never be taken: answered 554, so that its sender does not try again. */
export class UnreadableMessageError extends Error {
  readonly responseCode = 554;
}

/** A message as it came in over SMTP. */
export interface InboundMessage {
  raw: Buffer;
  /** The envelope sender in lower case; empty for the null sender of notifications. */
  from: string;
  /** The envelope recipients that were taken. */
  recipients: string[];
  ip: string;
  helo: string;
  receivedAt: Date;
}

export interface InboundHandler {
  /**
   * Tells whether an address belongs to this service. Other addresses are refused at RCPT, so this is no open relay.
   */
  accepts(recipient: string): Promise<boolean>;
  /** Records a message durably before the 250. A rejection replies 451, and the sender retries. */
  take(message: InboundMessage): Promise<void>;
}

export interface InboundListener {
  port: number;
  /** Accepts no new sessions, and gives running ones a moment to end. */
  close(): Promise<void>;
}

/** Listens for returned and inbound mail. `port` 0 takes a free one; with a certificate it offers STARTTLS. */
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
    places: PLACES,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    hideENHANCEDSTATUSCODES: true, // As in the relay: not every reply has one.
    disabledCommands: p.tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...p.tls,
    disableReverseLookup: true,
    logger: false,
    onRcptTo: ({ address }, session, done) => {
      if (session.envelope.rcptTo.length >= RECIPIENTS_MAX) return done(smtpError(452, '4.5.3 Too many recipients'));
      handler.accepts(normalizeEmail(address)).then(
        (accepted) => done(accepted ? null : smtpError(550, '5.1.1 No such user here')),
        (error) => {
          onError(error);
          done(smtpError(451, '4.3.0 Try again later'));
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
        if (bytes > MESSAGE_MAX_BYTES) return done(smtpError(552, '5.3.4 The message is too large'));
        handler.take(messageOf(Buffer.concat(chunks), session)).then(
          () => done(null, '2.0.0 Taken'),
          (error) => {
            if (error instanceof UnreadableMessageError) return done(error);
            onError(error);
            done(smtpError(451, '4.3.0 Try again later'));
          },
        );
      });
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(p.port, p.host, resolve);
  });
  // A client that hangs up in a handshake; without a listener it would end the process.
  server.off('error', onError).on('error', onError);
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : p.port;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

function messageOf(raw: Buffer, session: SMTPServerSession): InboundMessage {
  const { mailFrom, rcptTo } = session.envelope;
  return {
    raw,
    from: mailFrom ? normalizeEmail(mailFrom.address) : '',
    recipients: rcptTo.map(({ address }) => normalizeEmail(address)),
    ip: plainAddress(session.remoteAddress) ?? session.remoteAddress,
    helo: session.hostNameAppearsAs || session.remoteAddress,
    receivedAt: new Date(),
  };
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
