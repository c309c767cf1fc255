import { createContentCache } from '../../compute/content-cache.ts';
import { resolveLinkWithinBudget } from '../../compute/contents.ts';
import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { type Email, listEmailsById } from '../../db/emails/emails.ts';
import { getTracking } from '../../db/projects/projects.ts';
import { takeSimulatedEvents } from '../../db/sending/simulated-emails.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { type Engagement, recordEngagements } from '../../engine/feedback/engagements.ts';
import { buildStoredVariables } from '../../engine/sending/email-variables.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { isTracked } from '../../rules/content/message-tracking.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import { createSimulatedBounce, type Simulated } from '../../rules/emails/simulator.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ActivityDeps } from '../deps.ts';

/** The source that is stored in suppression entries. */
const SOURCE = 'simulator';

type Deps = Pick<ActivityDeps, 'config' | 'db' | 'compute' | 'outbox' | 'log'>;

/** The simulated feedback about one email. `id` is the id of the outbox row. */
interface SimulatedFeedback {
  id: string;
  email: Email;
  kind: Simulated;
  /** For a click: the target of the email's first link. */
  link: string | null;
}

/**
 * Creates a function that records the simulator's feedback about emails, with the code that records real feedback. The
 * feedback of each outbox row is recorded once, in the transaction that removes the row. A row whose feedback cannot be
 * recorded does not block the other rows.
 * @throws Error if feedback could not be recorded; the outbox then retries the rows
 */
export function createSimulatedFeedback(deps: Deps): (projectId: string, rows: OutboxRow[]) => Promise<void> {
  const { db, outbox, log } = deps;
  const suppressionKey = deriveKey(deps.config.secretKey, 'suppression');
  const contents = createContentCache(deps);

  return async (projectId, rows) => {
    const tracking = await getTracking(db, projectId);
    const emails = await listEmailsById(db, { projectId, ids: [...new Set(rows.map((row) => row.refId))] });
    const byId = new Map(emails.map((email) => [email.id, email]));
    const feedback: SimulatedFeedback[] = [];
    const dropped: string[] = [];
    for (const row of rows) {
      const email = byId.get(row.refId);
      const kind = row.kind === 'email.simulated' ? row.payload.what : undefined;
      if (!email || !kind || !isDetectable(kind, isTracked(tracking, email.type))) dropped.push(row.id);
      else
        feedback.push({
          id: row.id,
          email,
          kind,
          link: kind === 'click' ? await resolveFirstLink(projectId, email) : null,
        });
    }
    if (dropped.length > 0) await inTransaction(db, (trx) => takeSimulatedEvents(trx, { projectId, ids: dropped }));
    await record(projectId, feedback).catch(async (error: Error) => {
      if (feedback.length <= 1) throw error;
      log.warn({ projectId, reason: describeFailure(error) }, 'simulated feedback is recorded one by one');
      await recordOneByOne(projectId, feedback);
    });
  };

  /** Records each item in a transaction of its own. At the end, throws the first error. */
  async function recordOneByOne(projectId: string, feedback: SimulatedFeedback[]): Promise<void> {
    const errors: Error[] = [];
    for (const item of feedback) await record(projectId, [item]).catch((error: Error) => errors.push(error));
    if (errors[0]) throw errors[0];
  }

  async function record(projectId: string, feedback: SimulatedFeedback[]): Promise<void> {
    if (feedback.length === 0) return;
    outbox.wake(await inTransaction(db, (trx) => recordInTransaction(trx, { projectId, feedback })));
  }

  async function recordInTransaction(
    trx: Trx,
    { projectId, feedback }: { projectId: string; feedback: SimulatedFeedback[] },
  ): Promise<OutboxRow[]> {
    // Locks all contacts first, in the order of their ids, so that two transactions cannot deadlock. The code that
    // records one item locks its contact again.
    await lockContacts(trx, { projectId, ids: [...new Set(feedback.flatMap(({ email }) => email.contactId ?? []))] });
    const taken = await takeSimulatedEvents(trx, { projectId, ids: feedback.map(({ id }) => id) });
    const outbox: OutboxRow[] = [];
    for (const item of feedback.filter(({ id }) => taken.has(id))) {
      outbox.push(...(await recordOne(trx, projectId, item)));
    }
    return outbox;
  }

  async function recordOne(trx: Trx, projectId: string, item: SimulatedFeedback): Promise<OutboxRow[]> {
    const { email, kind, link } = item;
    const at = new Date();
    if (kind === 'open' || kind === 'click') {
      return recordEngagements(trx, {
        projectId,
        engagements: [createSimulatedEngagement(email, kind, { at, link })],
      });
    }
    const about = { emailId: email.id, suppressionKey, source: SOURCE };
    const feedback =
      kind === 'bounce' || kind === 'softbounce'
        ? { kind: 'bounce' as const, at, ...createSimulatedBounce(kind) }
        : { kind, at };
    return (await recordFeedback(trx, { ...about, feedback })).outbox;
  }

  /**
   * Returns the target of a simulated click: the first link of the email. Null if the email has no usable link. The
   * click is recorded even then, because users test the consequences of a click.
   */
  async function resolveFirstLink(projectId: string, email: Email): Promise<string | null> {
    const work = { projectId, kind: 'link' };
    try {
      const { ready } = await contents.get({ ...work, contentId: email.contentId, tracked: true });
      const [link] = ready.links;
      if (link === undefined) return null;
      return (await resolveLinkWithinBudget(deps.compute, work, { link, vars: buildStoredVariables(email) })) ?? null;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return null;
    }
  }
}

/**
 * Tells whether the service could detect this kind of feedback for a real email. Opens and clicks cannot be detected if
 * the email has no tracking pixel and no tracked links.
 */
function isDetectable(kind: Simulated, tracked: boolean): boolean {
  return tracked || (kind !== 'open' && kind !== 'click');
}

function createSimulatedEngagement(
  email: Email,
  kind: 'open' | 'click',
  { at, link }: { at: Date; link: string | null },
): Engagement {
  const isOpen = kind === 'open';
  return {
    email,
    opens: isOpen ? 1 : 0,
    openedAt: isOpen ? at : null,
    clicks: isOpen ? 0 : 1,
    clickedAt: isOpen ? null : at,
    link,
    machineOpens: 0,
    machineClicks: 0,
    // The click is also counted for its link, so that the report about links agrees with the number of clicks.
    links: isOpen || link === null ? [] : [{ index: 0, clicks: 1, machineClicks: 0 }],
  };
}
