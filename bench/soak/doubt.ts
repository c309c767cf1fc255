import { sql } from 'kysely';
import type { FakeTwilio } from '../../cli/demo/twilio.ts';
import type { Db } from '../../db/connection.ts';
import { parseMessageId } from '../../rules/content/link-tokens.ts';
import type { SmtpSink } from '../../test/support/smtp/smtp-sink.ts';

/**
 * The messages that had arrived at their destination when a failure hid this from the service. For each message id,
 * counts how often the service may send the message again. It must send no other message again.
 */
export interface UncertainMessages {
  /** Records that the relay's reply to the email with this Message-ID was lost. */
  answerLost(messageId: string): void;
  /** Records that a process was killed. Adds the messages that have arrived but are not recorded as sent. */
  killed(db: Db): Promise<void>;
  /** Records that Twilio closed the connection after this request. */
  hungUpOn(params: Record<string, string>): void;
  /** Returns how often an email or SMS may arrive again. */
  times(id: string): number;
}

export function trackUncertain(seen: () => { sink: SmtpSink; twilio: FakeTwilio }): UncertainMessages {
  const times = new Map<string, number>();
  const add = (id: string | undefined) => {
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  };
  return {
    answerLost: (messageId) => add(parseMessageId(messageId)),
    killed: async (db) => {
      const { sink, twilio } = seen();
      const arrived = new Set([
        ...sink.messages.map(({ messageId }) => parseMessageId(messageId)),
        ...twilio.requests.map(({ params }) => smsIdOf(params)),
      ]);
      const { rows } = await sql<{ id: string }>`
        SELECT id FROM emails WHERE status IN ('PENDING', 'SENDING')
        UNION ALL SELECT id FROM sms_messages WHERE status = 'PENDING'`.execute(db);
      for (const { id } of rows) if (arrived.has(id)) add(id);
    },
    hungUpOn: (params) => add(smsIdOf(params)),
    times: (id) => times.get(id) ?? 0,
  };
}

/** Returns the id of our record, from the address that Twilio calls back. */
export function smsIdOf(params: Record<string, string>): string | undefined {
  return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(params.StatusCallback ?? '')?.[0];
}
