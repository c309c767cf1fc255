import PostalMime from 'postal-mime';
import { connect } from '../../db/connection.ts';
import { listCapturedEmails } from '../../db/sending/captured.ts';
import type { LoopbackSmtpServer } from './smtp-server.ts';

/** An email as the recipient's server received it. */
export interface ArrivedEmail {
  /** The envelope sender. */
  readonly returnPath: string;
  /** The whole message. */
  readonly raw: string;
  readonly html: string;
  /** Returns the value of a header, or an empty string. `name` must be in lower case. */
  header(name: string): string;
}

/** The emails that have arrived at recipients of the tour. */
export interface DemoMailbox {
  /** Returns the latest email to an address. Undefined if none has arrived. */
  find(to: string): Promise<ArrivedEmail | undefined>;
  close(): Promise<void>;
}

/**
 * Opens the messages that EMAIL_PROVIDER=capture has stored. Reads the database table instead of the mailbox pages,
 * because only the table has the envelopes.
 */
export function openCapturedMailbox(databaseUrl: string): DemoMailbox {
  const { db } = connect({ connectionString: databaseUrl, max: 1, applicationName: 'tidings-demo', onError: () => {} });
  return {
    find: async (to) => {
      const [email] = await listCapturedEmails(db, { to, limit: 1 });
      return email && parseEmail(email.fromEmail, email.raw.toString('latin1'));
    },
    close: () => db.destroy(),
  };
}

/** Opens the messages that the tour's mail server has received. */
export function openReceivedMailbox(server: LoopbackSmtpServer): DemoMailbox {
  return {
    find: async (to) => {
      const email = server.emails.findLast((received) => received.to === to);
      return email && parseEmail(email.from, email.body);
    },
    close: async () => {},
  };
}

/** Parses a message. `raw` has one character per byte. */
async function parseEmail(returnPath: string, raw: string): Promise<ArrivedEmail> {
  const email = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  const header = (name: string) => email.headers.find(({ key }) => key === name)?.value ?? '';
  return { returnPath, raw, html: email.html ?? '', header };
}
