import { createContentCache } from '../../compute/content-cache.ts';
import { resolveLinkWithinBudget } from '../../compute/contents.ts';
import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { type Email, listEmailsById } from '../../db/emails/emails.ts';
import { getTracking } from '../../db/projects/projects.ts';
import { takeSimulated } from '../../db/sending/simulated-emails.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { type Engagement, recordEngagements } from '../../engine/feedback/engagements.ts';
import { variablesOf } from '../../engine/sending/email-variables.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { isTracked } from '../../rules/content/message-tracking.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import { type Simulated, simulatedBounce } from '../../rules/emails/simulator.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ActivityDeps } from '../deps.ts';

/** The source that suppression entries name. */
const SOURCE = 'simulator';

type Deps = Pick<ActivityDeps, 'config' | 'db' | 'compute' | 'outbox' | 'log'>;

/** The feedback about one email. */
interface Returned {
  id: string;
  email: Email;
  what: Simulated;
  /** The target of the email's first link, for a click. */
  link: string | null;
}

/**
 * Records the simulator's feedback about emails with the code that records real feedback. Each row is recorded once, in
 * the transaction that removes it from the outbox. A row that cannot be recorded does not block the others. @throws
 * Error if rows could not be recorded; they are retried
 */
export function createSimulatedFeedback(deps: Deps): (projectId: string, rows: OutboxRow[]) => Promise<void> {
  const { db, outbox, log } = deps;
  const suppressionKey = deriveKey(deps.config.secretKey, 'suppression');
  const contents = createContentCache(deps);

  return async (projectId, rows) => {
    const tracking = await getTracking(db, projectId);
    const emails = await listEmailsById(db, { projectId, ids: [...new Set(rows.map((row) => row.refId))] });
    const byId = new Map(emails.map((email) => [email.id, email]));
    const returned: Returned[] = [];
    const dropped: string[] = [];
    for (const row of rows) {
      const email = byId.get(row.refId);
      const what = row.kind === 'email.simulated' ? row.payload.what : undefined;
      if (!email || !what || !isSeen(what, isTracked(tracking, email.type))) dropped.push(row.id);
      else
        returned.push({ id: row.id, email, what, link: what === 'click' ? await firstLink(projectId, email) : null });
    }
    if (dropped.length > 0) await inTransaction(db, (trx) => takeSimulated(trx, { projectId, ids: dropped }));
    await record(projectId, returned).catch(async (error: Error) => {
      if (returned.length <= 1) throw error;
      log.warn({ projectId, reason: describeFailure(error) }, 'simulated feedback is recorded one by one');
      for (const one of returned) await record(projectId, [one]);
    });
  };

  async function record(projectId: string, returned: Returned[]): Promise<void> {
    if (returned.length === 0) return;
    outbox.wake(await inTransaction(db, (trx) => recordIn(trx, { projectId, returned })));
  }

  async function recordIn(trx: Trx, p: { projectId: string; returned: Returned[] }): Promise<OutboxRow[]> {
    const { projectId, returned } = p;
    // All contacts are locked at once, in the order of their ids; each record then locks its own contact again.
    await lockContacts(trx, { projectId, ids: [...new Set(returned.flatMap(({ email }) => email.contactId ?? []))] });
    const taken = await takeSimulated(trx, { projectId, ids: returned.map(({ id }) => id) });
    const outbox: OutboxRow[] = [];
    for (const one of returned.filter(({ id }) => taken.has(id))) {
      outbox.push(...(await recordOne(trx, { projectId, returned: one })));
    }
    return outbox;
  }

  async function recordOne(trx: Trx, p: { projectId: string; returned: Returned }): Promise<OutboxRow[]> {
    const { email, what, link } = p.returned;
    const at = new Date();
    if (what === 'open' || what === 'click') {
      return recordEngagements(trx, { projectId: p.projectId, engagements: [hitOf(email, what, { at, link })] });
    }
    const about = { emailId: email.id, suppressionKey, source: SOURCE };
    const feedback =
      what === 'bounce' || what === 'softbounce'
        ? { kind: 'bounce' as const, at, ...simulatedBounce(what) }
        : { kind: what, at };
    return (await recordFeedback(trx, { ...about, feedback })).outbox;
  }

  /**
   * Returns the target of a simulated click: the first link. An email without usable links counts as clicked, too,
   * because users test the consequences of a click.
   */
  async function firstLink(projectId: string, email: Email): Promise<string | null> {
    const work = { projectId, kind: 'link' };
    try {
      const { ready } = await contents.get({ ...work, contentId: email.contentId, tracked: true });
      const [link] = ready.links;
      if (link === undefined) return null;
      return (await resolveLinkWithinBudget(deps.compute, work, { link, vars: variablesOf(email) })) ?? null;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return null;
    }
  }
}

/**
 * Tells whether the service could detect this feedback for a real email. An open of an email without pixel and links
 * cannot be detected.
 */
function isSeen(what: Simulated, tracked: boolean): boolean {
  return tracked || (what !== 'open' && what !== 'click');
}

function hitOf(email: Email, what: 'open' | 'click', { at, link }: { at: Date; link: string | null }): Engagement {
  const isOpen = what === 'open';
  return {
    email,
    opens: isOpen ? 1 : 0,
    openedAt: isOpen ? at : null,
    clicks: isOpen ? 0 : 1,
    clickedAt: isOpen ? null : at,
    link,
    machineOpens: 0,
    machineClicks: 0,
    // Clicks are also counted by link, so that the link report agrees with the number of clicks.
    links: isOpen || link === null ? [] : [{ index: 0, clicks: 1, machineClicks: 0 }],
  };
}
