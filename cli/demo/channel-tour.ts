import { createTransport } from 'nodemailer';
import { waitFor } from './client.ts';
import type { TourContext } from './execution.ts';
import type { ArrivedEmail, DemoMailbox } from './mailbox.ts';
import { waitForStatus } from './record.ts';

/** The state that the loops of `npm run demo:channels` share. */
export interface ChannelTourContext extends TourContext {
  /** The project's secret key, which is also the password of the relay. */
  readonly secretKey: string;
  readonly mailbox: DemoMailbox;
  /** Port on 127.0.0.1 that accepts bounces, and email to the verified domain. */
  readonly inboundPort: number;
  /** Port on 127.0.0.1 of the SMTP relay. */
  readonly relayPort: number;
}

/** An email that has arrived, with the ids of its record. */
export interface TourEmail extends ArrivedEmail {
  readonly emailId: string;
  readonly contactId: string;
  readonly to: string;
}

const SUBJECT = 'An offer, {{name}}';
/** A body with a link to click and a link to unsubscribe. The second link makes the service add List-Unsubscribe. */
export const EMAIL_BODY =
  '<p>Hello {{name}}, <a href="https://example.com/offer">have a look</a>.</p><p><a href="{{unsubscribeUrl}}">No more</a></p>';

/** Sends an email to a new subscriber, and reads it in the mailbox where it arrives. */
export async function sendTourEmail(tour: ChannelTourContext, name: string): Promise<TourEmail> {
  const { report, mailbox } = tour;
  const { emailId, contactId, to } = await sendToNewContact(tour, name);
  await waitForStatus(tour, emailId, 'SENT');
  const email = await waitFor(`the email to ${to}`, () => mailbox.find(to));
  report.line(`POST /v1/send to ${to}: SENT, envelope sender ${email.returnPath}`);
  return { ...email, emailId, contactId, to };
}

/** Sends an email to a new contact, and returns the ids of the email and the contact, and the address. */
export async function sendToNewContact({ client, from, toDomain }: ChannelTourContext, name: string) {
  const to = `${name}@${toDomain}`;
  const request = { to, from, subject: SUBJECT, body: EMAIL_BODY, data: { name }, subscribed: true };
  const { contact, email } = (await client.call('POST', '/v1/send', request)).data.emails[0];
  return { emailId: String(email), contactId: String(contact.id), to };
}

/** Delivers a message to the listener for bounces and inbound email, like another mail server. */
export async function deliverBySmtp(
  { report, inboundPort }: ChannelTourContext,
  what: string,
  message: { from: string; to: string; raw: string },
): Promise<void> {
  const server = createTransport({ host: '127.0.0.1', port: inboundPort, ignoreTLS: true });
  const { from, to, raw } = message;
  const { response } = await server.sendMail({ envelope: { from, to }, raw });
  report.line(
    `sent the ${what} by SMTP to 127.0.0.1:${inboundPort} with RCPT TO ${to}. The service responded: ${response}`,
  );
}
