import type { Logger } from 'pino';
import { createDns } from '../channels/dns.ts';
import type { Db } from '../db/connection.ts';
import { countWatchedEmails, recordAcceptedEmails } from '../db/sending/hold-guard.ts';
import type { RecordedOutcome } from '../rules/emails/attempt-outcome.ts';
import { emailDomain } from '../rules/emails/email-address.ts';
import { findMailboxProvider } from '../rules/emails/hold-guard.ts';
import { describeFailure } from '../rules/failure-text.ts';

/** The maximum number of emails that one statement reads. */
const BATCH_MAX = 500;
/**
 * The maximum number of accepted emails that wait to be counted. Further emails are not counted as successes, so the
 * guard puts the project on hold a little earlier.
 */
const WAITING_MAX = 20_000;

export interface HoldGuard {
  /**
   * If the mailbox provider of `to` refused the sender, adds the name of that provider to the outcome. Finds the
   * provider by the MX records in the DNS, which takes at most 3 s.
   */
  nameMailboxProvider(outcome: RecordedOutcome, to: string): Promise<RecordedOutcome>;
  /**
   * Counts accepted emails as successes at their mailbox provider, if the guard watches that provider. Call it after
   * the emails are recorded. The counting runs in the background.
   */
  reportAccepted(emailIds: string[]): void;
}

/**
 * Creates the part of the hold guard that runs in the process that sends email. This part finds the mailbox providers
 * of recipients, and counts the emails that these providers accepted. The guard puts a project on hold when a mailbox
 * provider refuses too many of its emails because of the sender. A process has one instance for the mailer and one for
 * campaigns.
 */
export function createHoldGuard(p: { db: Db; dnsServers: readonly string[]; log: Pick<Logger, 'warn'> }): HoldGuard {
  const { db, log } = p;
  const dns = createDns({ servers: p.dnsServers, cached: true });
  const waiting: string[] = [];
  let running = false;

  const lookUpProvider = async (domain: string) => findMailboxProvider(domain, await dns.mx(domain));

  async function countAccepted(emailIds: string[]): Promise<void> {
    const watched = await countWatchedEmails(db, emailIds);
    const accepted = await Promise.all(
      watched.map(async ({ projectId, domain, emails }) => ({
        projectId,
        emails,
        provider: await lookUpProvider(domain),
      })),
    );
    const byProvider = new Map<string, (typeof accepted)[number]>();
    for (const email of accepted) {
      const key = `${email.projectId} ${email.provider}`;
      byProvider.set(key, { ...email, emails: email.emails + (byProvider.get(key)?.emails ?? 0) });
    }
    await recordAcceptedEmails(db, [...byProvider.values()]);
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // If a database error prevents the count, these emails are not counted later. The guard only estimates from the
      // last hundred emails of a provider, so it tolerates missing emails.
      await countAccepted(waiting.splice(0, BATCH_MAX)).catch((error: Error) =>
        log.warn({ reason: describeFailure(error) }, 'emails accepted by a watched mailbox provider were not recorded'),
      );
    }
    running = false;
  }

  return {
    async nameMailboxProvider(outcome, to) {
      if (outcome.kind !== 'failed' || !outcome.refusesSender) return outcome;
      return { ...outcome, provider: await lookUpProvider(emailDomain(to)) };
    },
    reportAccepted(emailIds) {
      if (waiting.length + emailIds.length > WAITING_MAX) return;
      waiting.push(...emailIds);
      if (!running) void run();
    },
  };
}
