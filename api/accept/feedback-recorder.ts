import { createDns } from '../../channels/dns.ts';
import type { Db } from '../../db/connection.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { checkRefusalGuard } from '../../db/sending/hold-guard.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type FeedbackRequest, type FeedbackResult, recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { findMailboxProvider } from '../../rules/emails/hold-guard.ts';

export type FeedbackRecorder = (
  request: Omit<FeedbackRequest, 'suppressionKey'>,
) => Promise<Pick<FeedbackResult, 'outcome'>>;

/**
 * Creates the function that records a report about one email, from any source, and wakes workers for the outbox rows
 * that it inserts. If a mail server refused the sender of the email, a second transaction counts the refusal towards
 * the hold guard of the server's mailbox provider. The provider is found by a DNS lookup between the two transactions.
 * If the process is killed between them, the guard does not count this refusal.
 */
export function createFeedbackRecorder(p: { config: Config; db: Db; outbox: OutboxWaker }): FeedbackRecorder {
  const { config, db, outbox } = p;
  const suppressionKey = deriveKey(config.secretKey, 'suppression');
  const dns = createDns({ servers: config.dnsServers, cached: true });

  return async (request) => {
    const {
      outcome,
      outbox: queued,
      refusal,
    } = await inTransaction(db, (trx) => recordFeedback(trx, { ...request, suppressionKey }));
    outbox.wake(queued);
    if (refusal) {
      const { projectId, domain } = refusal;
      const provider = findMailboxProvider(domain, await dns.mx(domain));
      outbox.wake(await inTransaction(db, (trx) => checkRefusalGuard(trx, { projectId, provider, refused: 1 })));
    }
    return { outcome };
  };
}
