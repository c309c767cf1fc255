import type { Logger } from 'pino';
import { createDns } from '../channels/dns.ts';
import type { Db } from '../db/connection.ts';
import { findWatchedEmails, noteAccepted } from '../db/sending/hold-guard.ts';
import type { RecordedOutcome } from '../rules/emails/attempt-outcome.ts';
import { emailDomain } from '../rules/emails/email-address.ts';
import { mailboxProviderOf } from '../rules/emails/hold-guard.ts';
import { describeFailure } from '../rules/failure-text.ts';

/** The maximum number of emails that one statement reads. */
const BATCH_MAX = 500;
/**
 * The maximum number of emails that wait to be recorded. Emails beyond it are not counted, so the guard pauses a little
 * earlier.
 */
const WAITING_MAX = 20_000;

export interface HoldGuard {
  /**
   * Adds the mailbox provider of `to` to the outcome, if that provider refused the sender. Looks the provider up in the
   * DNS, for at most 3 s.
   */
  nameMailboxProvider(outcome: RecordedOutcome, to: string): Promise<RecordedOutcome>;
  /**
   * Counts emails that are accepted and recorded as successes of their mailbox provider, if it is watched. Runs in the
   * background.
   */
  accepted(emailIds: string[]): void;
}

/**
 * Creates the part of the projects' auto-pause guards that runs in the sending process, where the provider of each
 * mailbox is looked up. Each channel has one.
 */
export function createHoldGuard(p: { db: Db; dnsServers: readonly string[]; log: Pick<Logger, 'warn'> }): HoldGuard {
  const { db, log } = p;
  const dns = createDns({ servers: p.dnsServers, cached: true });
  const waiting: string[] = [];
  let running = false;

  const providerOf = async (domain: string) => mailboxProviderOf(domain, await dns.mx(domain));

  async function note(emailIds: string[]): Promise<void> {
    const watched = await findWatchedEmails(db, emailIds);
    const accepted = await Promise.all(
      watched.map(async ({ projectId, domain, emails }) => ({ projectId, emails, provider: await providerOf(domain) })),
    );
    const byProvider = new Map<string, (typeof accepted)[number]>();
    for (const email of accepted) {
      const key = `${email.projectId} ${email.provider}`;
      byProvider.set(key, { ...email, emails: email.emails + (byProvider.get(key)?.emails ?? 0) });
    }
    await noteAccepted(db, [...byProvider.values()]);
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // The guard is a heuristic over the last hundred emails, so results that are lost by a database error are not
      // retried.
      await note(waiting.splice(0, BATCH_MAX)).catch((error: Error) =>
        log.warn({ reason: describeFailure(error) }, 'emails accepted by a watched mailbox provider were not recorded'),
      );
    }
    running = false;
  }

  return {
    async nameMailboxProvider(outcome, to) {
      if (outcome.kind !== 'failed' || !outcome.refusesSender) return outcome;
      return { ...outcome, provider: await providerOf(emailDomain(to)) };
    },
    accepted(emailIds) {
      if (waiting.length + emailIds.length > WAITING_MAX) return;
      waiting.push(...emailIds);
      if (!running) void run();
    },
  };
}
