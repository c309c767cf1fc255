import { sql } from 'kysely';
import { type MachineHits, recordMachineHits } from '../../db/campaigns/machine-hours.ts';
import { markFiguresStaleSql } from '../../db/campaigns/stale-figures.ts';
import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import type { Email } from '../../db/emails/emails.ts';
import { listStatusesBefore } from '../../rules/emails/email-status.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { type NewEvent, recordEvents } from '../events/record-events.ts';
import { createEmailEvent } from '../sending/email-variables.ts';

/** The opens and clicks of one email since the last call of `recordEngagements` for it. */
export interface Engagement {
  email: Email;
  /** Opens by humans. */
  opens: number;
  openedAt: Date | null;
  clicks: number;
  clickedAt: Date | null;
  /** The URL of the first click in this period. */
  link: string | null;
  machineOpens: number;
  machineClicks: number;
  /** The clicks on each link. `index` is the link's position in the list of links of the email's content. */
  links?: { index: number; clicks: number; machineClicks: number }[];
}

/**
 * Adds opens and clicks to the emails of one project, with one statement for all emails. `engagements` must not contain
 * an email twice. Counters only grow, the times of the first open and click are set once, and the status only moves
 * forward. A click by a human proves that the email was read, so the status changes to CLICKED even without an open.
 * The click is not counted as an open. The first open and the first click by a human emit `email.open` and
 * `email.click`. Opens and clicks by bots have separate counters and change nothing else. Source: contract §8.2, §9.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function recordEngagements(
  trx: Trx,
  p: { projectId: string; engagements: Engagement[] },
): Promise<OutboxRow[]> {
  const engagements = [...p.engagements].sort((a, b) => (a.email.id < b.email.id ? -1 : 1));
  if (engagements.length === 0) return [];
  const byHumans = engagements.filter(({ opens, clicks }) => opens + clicks > 0);
  // Locks contacts before their emails, as every transaction does. `recordEvents` needs these locks too.
  const lockedContacts = await lockContacts(trx, {
    projectId: p.projectId,
    ids: [...new Set(byHumans.flatMap(({ email }) => email.contactId ?? []))],
  });
  const before = await countEngagements(trx, { projectId: p.projectId, engagements });
  await countLinkClicks(trx, { projectId: p.projectId, engagements });
  const events = byHumans.flatMap((engagement) => buildFirstEvents(engagement, before.get(engagement.email.id)));
  const { outbox } = await recordEvents(trx, { projectId: p.projectId, events, lockedContacts });
  await recordMachineHits(trx, { projectId: p.projectId, hits: engagements.flatMap(toMachineHits) });
  return outbox;
}

/**
 * Counts the clicks on each link of campaign emails. Runs after `countEngagements`, whose row locks prevent concurrent
 * counting. `engagements` are sorted by email id, so that two transactions do not deadlock.
 */
async function countLinkClicks(trx: Trx, p: { projectId: string; engagements: Engagement[] }): Promise<void> {
  const rows = p.engagements.flatMap(({ email, links = [] }) =>
    email.campaignId === null ? [] : links.map((link) => ({ ...link, email, campaignId: email.campaignId })),
  );
  if (rows.length === 0) return;
  await sql`
    INSERT INTO link_clicks AS l (campaign_id, email_id, link, project_id, content_id, clicks, machine_clicks)
    SELECT u.campaign_id, u.email_id, u.link, ${p.projectId}, u.content_id, u.clicks, u.machine_clicks
    FROM unnest(${rows.map((row) => row.campaignId)}::uuid[], ${rows.map((row) => row.email.id)}::uuid[],
      ${rows.map((row) => row.index)}::int[], ${rows.map((row) => row.email.contentId)}::uuid[],
      ${rows.map((row) => row.clicks)}::int[], ${rows.map((row) => row.machineClicks)}::int[])
      AS u (campaign_id, email_id, link, content_id, clicks, machine_clicks)
    ON CONFLICT (campaign_id, email_id, link) DO UPDATE
      SET clicks = l.clicks + excluded.clicks, machine_clicks = l.machine_clicks + excluded.machine_clicks
  `.execute(trx);
}

function toMachineHits({ email, machineOpens: opens, machineClicks: clicks }: Engagement): MachineHits[] {
  const { campaignId } = email;
  return campaignId !== null && opens + clicks > 0 ? [{ campaignId, opens, clicks }] : [];
}

interface Counters {
  id: string;
  opens: number;
  clicks: number;
}

/**
 * Updates the counters of the emails and returns the counters' earlier values. An email of a test key stays SENT
 * (contract §9.1 Statuses).
 */
async function countEngagements(
  trx: Trx,
  p: { projectId: string; engagements: Engagement[] },
): Promise<Map<string, Counters>> {
  const column = <T>(of: (engagement: Engagement) => T): T[] => p.engagements.map(of);
  const { rows } = await sql<Counters>`
    WITH locked AS MATERIALIZED (
      SELECT id FROM emails WHERE project_id = ${p.projectId} AND id = ANY(${column((e) => e.email.id)}::uuid[])
      ORDER BY id FOR NO KEY UPDATE
    ), counted AS (
    UPDATE emails e SET
      opens = e.opens + u.opens, clicks = e.clicks + u.clicks,
      machine_opens = e.machine_opens + u.machine_opens, machine_clicks = e.machine_clicks + u.machine_clicks,
      opened_at = coalesce(e.opened_at, u.opened_at), clicked_at = coalesce(e.clicked_at, u.clicked_at),
      status = CASE
        WHEN e.mode = 'test' THEN e.status
        WHEN u.clicks > 0 AND e.status = ANY(${listStatusesBefore('CLICKED')}::text[]) THEN 'CLICKED'
        WHEN u.opens > 0 AND e.status = ANY(${listStatusesBefore('OPENED')}::text[]) THEN 'OPENED'
        ELSE e.status END
    FROM locked, unnest(${column((e) => e.email.id)}::uuid[], ${column((e) => e.opens)}::int[], ${column((e) => e.clicks)}::int[],
      ${column((e) => e.machineOpens)}::int[], ${column((e) => e.machineClicks)}::int[],
      ${column((e) => e.openedAt)}::timestamptz[], ${column((e) => e.clickedAt)}::timestamptz[])
      AS u (id, opens, clicks, machine_opens, machine_clicks, opened_at, clicked_at)
    WHERE e.id = locked.id AND u.id = e.id
    RETURNING e.id, e.campaign_id, e.project_id, old.opens, old.clicks
    ), touched AS (${markFiguresStaleSql(sql`SELECT * FROM counted`)})
    SELECT id, opens, clicks FROM counted
  `.execute(trx);
  return new Map(rows.map((row) => [row.id, row]));
}

function buildFirstEvents(engagement: Engagement, before: Counters | undefined): NewEvent[] {
  const { email, opens, openedAt, clicks, clickedAt, link } = engagement;
  const events: NewEvent[] = [];
  const { mode } = email;
  if (before?.opens === 0 && opens > 0) {
    const detail = { openedAt: openedAt?.toISOString(), opens: 1, isFirstOpen: true };
    events.push({ ...createEmailEvent(email, 'email.open', detail), mode });
  }
  if (before?.clicks === 0 && clicks > 0) {
    const detail = { link, clickedAt: clickedAt?.toISOString(), clicks: 1, isFirstClick: true };
    events.push({ ...createEmailEvent(email, 'email.click', detail), mode });
  }
  return events;
}
