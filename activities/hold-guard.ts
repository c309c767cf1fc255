import type { Logger } from 'pino';
import { createDns } from '../channels/dns.ts';
import type { Db } from '../db/connection.ts';
import { findWatchedMails, noteAccepted } from '../db/sending/hold-guard.ts';
import type { RecordedOutcome } from '../rules/emails/attempt-outcome.ts';
import { emailDomain } from '../rules/emails/email-address.ts';
import { mailboxProviderOf } from '../rules/emails/hold-guard.ts';
import { describeFailure } from '../rules/failure-text.ts';

/** Mails looked at by one statement. */
const BATCH_MAX = 500;
/** Mails that wait to be noted; beyond it they go uncounted, which only makes the guard a little quicker. */
const WAITING_MAX = 20_000;

export interface HoldGuard {
  /**
   * Names the mailbox provider of `to` in the outcome of its email where it refused the sender. Asks the DNS, for 3 s at
   * most.
   */
  named(outcome: RecordedOutcome, to: string): Promise<RecordedOutcome>;
  /**
   * These mails were taken and recorded: they count among the last ones of their provider, if it is watched. Not
   * awaited.
   */
  accepted(emailIds: string[]): void;
}

/** The sending process's part of the projects' guards: it knows the provider of each mailbox. One for each channel. */
export function createHoldGuard(p: { db: Db; dnsServers: readonly string[]; log: Pick<Logger, 'warn'> }): HoldGuard {
  const { db, log } = p;
  const dns = createDns({ servers: p.dnsServers, cached: true });
  const waiting: string[] = [];
  let running = false;

  const providerOf = async (domain: string) => mailboxProviderOf(domain, await dns.mx(domain));

  async function note(emailIds: string[]): Promise<void> {
    const watched = await findWatchedMails(db, emailIds);
    const taken = await Promise.all(
      watched.map(async ({ projectId, domain, mails }) => ({ projectId, mails, provider: await providerOf(domain) })),
    );
    const byProvider = new Map<string, (typeof taken)[number]>();
    for (const mail of taken) {
      const key = `${mail.projectId} ${mail.provider}`;
      byProvider.set(key, { ...mail, mails: mail.mails + (byProvider.get(key)?.mails ?? 0) });
    }
    await noteAccepted(db, [...byProvider.values()]);
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // A heuristic over the last hundred emails, so results that a database error loses are not retried.
      await note(waiting.splice(0, BATCH_MAX)).catch((error: Error) =>
        log.warn({ reason: describeFailure(error) }, 'emails accepted by a watched mailbox provider were not recorded'),
      );
    }
    running = false;
  }

  return {
    async named(outcome, to) {
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
