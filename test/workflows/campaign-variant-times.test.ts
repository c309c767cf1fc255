import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { DAY_MS, toWallTime, writeLocalTime } from '../../rules/time/local-time.ts';
import { buildContacts } from '../build/campaigns.ts';
import { deleteStoredStatistics } from '../build/recipients.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

/** Two time zones with the same time of day on different days, all year. */
const [EARLY, LATE] = ['Pacific/Kiritimati', 'Pacific/Honolulu'];
const EACH = 60;
const MINUTE_MS = 60_000;
const campaigns = useCampaignService();
const { call, create, send, read, waitForStatus } = campaigns;

interface Reached {
  /** The name given to `people`, and the number of the variant. */
  who: string;
  n: number;
  firstAt: Date;
}

/** Returns the recipients of sent emails. */
async function readReachedRecipients(id: string): Promise<Map<string, Reached>> {
  const { rows } = await sql<Reached>`
    SELECT regexp_replace(to_email, '\\d.*', '') || ' ' || variant AS who, count(*)::int AS n, min(sent_at) AS "firstAt"
    FROM emails WHERE campaign_id = ${id} AND sent_at IS NOT NULL GROUP BY 1
  `.execute(campaigns.service.db);
  return new Map(rows.map((row) => [row.who, row]));
}

function buildContactsInZone(localPart: string, timezone: string) {
  const data = { firstName: 'Ada', timezone };
  return buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: EACH, localPart, data });
}

it("an A/B test at local time sends the share at each recipient's hour, and the winner to the rest at their hour a day later", async () => {
  // The local hour in LATE is within about a minute. In EARLY the same hour was a day earlier.
  const hourMs = Math.ceil((Date.now() + 5_000) / MINUTE_MS) * MINUTE_MS;
  await buildContactsInZone('early', EARLY);
  await buildContactsInZone('late', LATE);
  const id = await create({
    sendAtLocal: writeLocalTime(toWallTime(LATE, hourMs)),
    variants: [
      { name: 'A', weight: 1 },
      { name: 'B', subject: 'B', weight: 1 },
    ],
    test: { share: 0.2, metric: 'opens', waitMinutes: 0.1 },
  });
  await send(id);
  const share = await until(async () => {
    const campaign = await read(id);
    return campaign.testState === 'WAITING' && campaign;
  }, 'the share to be sent at both hours');
  expect(share).toMatchObject({ status: 'SENDING', sentCount: 24, pendingCount: 96, winner: null });
  expect(Date.parse(share.testEndsAt)).toBeGreaterThanOrEqual(hourMs);
  const first = await readReachedRecipients(id);
  expect([...first.keys()].sort()).toEqual(['early 0', 'early 1', 'late 0', 'late 1']);
  for (const variant of [0, 1]) {
    expect(first.get(`late ${variant}`)?.firstAt.getTime()).toBeGreaterThanOrEqual(hourMs);
  }
  await sql`
      UPDATE emails SET opened_at = now() WHERE campaign_id = ${id} AND variant = 1 AND sent_at IS NOT NULL
    `.execute(campaigns.service.db);
  await deleteStoredStatistics(campaigns.service.db, id);

  const later = await until(async () => {
    const campaign = await read(id);
    return campaign.pendingCount === EACH - countLateRecipients(first) && campaign.nextOpening && campaign;
  }, 'the rest in the early time zone to be sent');
  expect(later).toMatchObject({ status: 'SENDING', winner: 'B', winnerBy: 'test' });
  expect(later.nextOpening).toBe(new Date(hourMs + DAY_MS).toISOString());
  const second = await readReachedRecipients(id);
  expect(second.get('early 0')).toEqual(first.get('early 0'));
  expect(second.get('late 1')).toEqual(first.get('late 1'));
  expect((second.get('early 0')?.n ?? 0) + (second.get('early 1')?.n ?? 0)).toBe(EACH);
  expect([...campaigns.sink.perRecipient().values()].every((times) => times === 1)).toBe(true);

  await call('POST', `/campaigns/${id}/cancel`);
  expect(await waitForStatus(id, 'CANCELLED')).toMatchObject({ sentCount: EACH + countLateRecipients(first) });
});

function countLateRecipients(share: ReadonlyMap<string, Reached>): number {
  return (share.get('late 0')?.n ?? 0) + (share.get('late 1')?.n ?? 0);
}
