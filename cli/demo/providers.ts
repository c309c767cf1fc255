import { randomBytes } from 'node:crypto';
import type { SMTPServerOptions } from 'smtp-server';
import { type DemoMailbox, openReceivedMailbox } from './mailbox.ts';
import { type HookReceiver, startHookReceiver } from './receiver.ts';
import { startSmtpServer } from './smtp-server.ts';
import { type FakeTwilio, startFakeTwilio } from './twilio.ts';

/** Servers on loopback that replace the providers of a service. */
export interface DemoProviders {
  readonly mailbox: DemoMailbox;
  readonly twilio: FakeTwilio;
  readonly twilioAuthToken: string;
  readonly hooks: HookReceiver;
  /** Environment variables for a service that sends to these servers. */
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The mail server's replies to RCPT for the addresses that it refuses, by the part of the address before the @. */
const REFUSALS: Readonly<Record<string, string>> = {
  refused: '5.1.1 User unknown',
};
const REFUSED = 550;
const TOKEN_BYTES = 16;

/** Starts a mail server, a fake Twilio and a web server. */
export async function startProviders(): Promise<DemoProviders> {
  const email = await startSmtpServer({ closeTimeout: 0, onRcptTo: refuseSome });
  const twilio = await startFakeTwilio();
  const hooks = await startHookReceiver();
  const twilioAuthToken = randomBytes(TOKEN_BYTES).toString('hex');
  const settings = {
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: `smtp://127.0.0.1:${email.port}`,
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: twilioAuthToken,
    TWILIO_BASE_URL: twilio.url,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const close = async (): Promise<void> => {
    hooks.close();
    await Promise.all([email.close(), twilio.close()]);
  };
  return { mailbox: openReceivedMailbox(email), twilio, twilioAuthToken, hooks, settings, close };
}

const refuseSome: NonNullable<SMTPServerOptions['onRcptTo']> = ({ address }, _, done) => {
  const reply = REFUSALS[address.split('@', 1)[0] ?? ''];
  done(reply ? Object.assign(new Error(reply), { responseCode: REFUSED }) : null);
};
