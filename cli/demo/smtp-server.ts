import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A received email. `body` is the whole message, with one character per byte. */
export interface DemoEmail {
  from: string;
  to: string;
  user: string | null;
  secure: boolean;
  body: string;
}

export interface LoopbackSmtpServer {
  port: number;
  emails: DemoEmail[];
  /** The mechanism, user and password of every login attempt. */
  logins: { method: string; user: string; pass: string; secure: boolean }[];
  close(): Promise<void>;
}

/**
 * Starts a complete SMTP server with STARTTLS (self-signed certificate) and AUTH. The password is `secret`. Does not
 * offer PIPELINING.
 */
export async function startSmtpServer(options: SMTPServerOptions = {}): Promise<LoopbackSmtpServer> {
  const emails: DemoEmail[] = [];
  const logins: LoopbackSmtpServer['logins'] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    disableReverseLookup: true,
    onAuth: (auth, session, done) => {
      logins.push({
        method: auth.method,
        user: auth.username ?? '',
        pass: auth.password ?? '',
        secure: session.secure,
      });
      const valid = auth.method === 'CRAM-MD5' ? auth.validatePassword('secret') : auth.password === 'secret';
      if (valid) done(null, { user: auth.username });
      else done(new Error('Invalid username or password'));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        emails.push({
          from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
          to: session.envelope.rcptTo[0]?.address ?? '',
          user: typeof session.user === 'string' ? session.user : null,
          secure: session.secure,
          body: Buffer.concat(chunks).toString('latin1'),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {}); // A client may hang up during the handshake.
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return { port, emails, logins, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
