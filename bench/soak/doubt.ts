import { sql } from 'kysely';
import type { FakeTwilio } from '../../cli/demo/twilio.ts';
import type { Db } from '../../db/connection.ts';
import { emailIdOf } from '../../rules/content/link-tokens.ts';
import type { SmtpSink } from '../../test/support/smtp/smtp-sink.ts';

/**
 * Messages that a failure left in doubt: they had arrived, and the service could not know it. Message ids with the
 * number of arrivals. Only such a message may be sent again, and only this often.
 */
export interface Doubt {
  /** The answer to this Message-ID was lost on the way from the relay. */
  answerLost(messageId: string): void;
  /** A process was killed: reads the messages that arrived and are not recorded as sent. */
  killed(db: Db): Promise<void>;
  /** Twilio hung up after this request. */
  hungUpOn(params: Record<string, string>): void;
  /** How often a mail, or an SMS, may come again. */
  times(id: string): number;
}

export function trackDoubt(seen: () => { sink: SmtpSink; twilio: FakeTwilio }): Doubt {
  const times = new Map<string, number>();
  const add = (id: string | undefined) => {
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  };
  return {
    answerLost: (messageId) => add(emailIdOf(messageId)),
    killed: async (db) => {
      const { sink, twilio } = seen();
      const arrived = new Set([
        ...sink.messages.map(({ messageId }) => emailIdOf(messageId)),
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

/** The id of our record in the address that Twilio is to call back. */
export function smsIdOf(params: Record<string, string>): string | undefined {
  return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(params.StatusCallback ?? '')?.[0];
}
