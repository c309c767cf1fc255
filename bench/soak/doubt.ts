import { sql } from 'kysely';
import type { FakeTwilio } from '../../cli/demo/twilio.ts';
import type { Db } from '../../db/connection.ts';
import { parseMessageId } from '../../rules/content/link-tokens.ts';
import type { SmtpSink } from '../../test/support/smtp/smtp-sink.ts';

/**
 * The messages that arrived at the relay or at Twilio, although a failure kept the service from learning this. The
 * service has to send such a message again, so a second copy is not a bug. Any other second copy is a bug.
 */
export interface UncertainMessages {
  /** Records that the relay's reply to the email with this Message-ID was lost. */
  recordLostReply(messageId: string): void;
  /** Records that a process was killed. Adds the messages that have arrived but are not recorded as sent. */
  recordKill(db: Db): Promise<void>;
  /** Records that Twilio closed the connection after this request. */
  recordHangUp(params: Record<string, string>): void;
  /** Returns how many additional copies of an email or SMS may arrive. */
  countAllowedRepeats(id: string): number;
}

export function trackUncertainMessages(seen: () => { sink: SmtpSink; twilio: FakeTwilio }): UncertainMessages {
  const times = new Map<string, number>();
  const add = (id: string | undefined) => {
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  };
  return {
    recordLostReply: (messageId) => add(parseMessageId(messageId)),
    recordKill: async (db) => {
      const { sink, twilio } = seen();
      const arrived = new Set([
        ...sink.messages.map(({ messageId }) => parseMessageId(messageId)),
        ...twilio.requests.map(({ params }) => parseSmsId(params)),
      ]);
      const { rows } = await sql<{ id: string }>`
        SELECT id FROM emails WHERE status IN ('PENDING', 'SENDING')
        UNION ALL SELECT id FROM sms_messages WHERE status = 'PENDING'`.execute(db);
      for (const { id } of rows) if (arrived.has(id)) add(id);
    },
    recordHangUp: (params) => add(parseSmsId(params)),
    countAllowedRepeats: (id) => times.get(id) ?? 0,
  };
}

/** Returns the id of the SMS. It is in the URL to which Twilio reports the delivery (`StatusCallback`). */
export function parseSmsId(params: Record<string, string>): string | undefined {
  return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(params.StatusCallback ?? '')?.[0];
}
