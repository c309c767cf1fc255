import { sql } from 'kysely';
import { HOUR_MS, type World } from './world.ts';

const DAYS = 60;
/** The hours whose results the guards of a project store. */
const OUTCOME_HOURS = 48;
/** Campaigns that increase the number of sent emails: how many days ago each was sent, and its number of recipients. */
const CAMPAIGNS: ReadonlyMap<number, number> = new Map([
  [3, 4_900],
  [9, 2_300],
  [10, 1_800],
  [16, 4_700],
  [20, 2_600],
  [26, 4_500],
  [33, 4_100],
  [41, 2_200],
  [47, 4_000],
  [55, 3_900],
]);

/**
 * Builds the counts of one hour in each of the last 60 days, and of each of the last 48 hours, so that the statistics
 * look like an active project’s statistics.
 * @param scale the size of the project, compared with the usual one
 */
export async function buildEmailHours({ db, projectId }: Pick<World, 'db' | 'projectId'>, scale = 1): Promise<void> {
  const thisHour = Math.floor(Date.now() / HOUR_MS);
  const rows = Array.from({ length: DAYS }, (_, n) => {
    const daysAgo = n + 1;
    const daily = 320 + 60 * Math.sin(daysAgo) + (daysAgo % 7) * 12;
    const sent = Math.round(scale * (daily + (CAMPAIGNS.get(daysAgo) ?? 0)));
    const openRate = 0.4 + 0.03 * Math.cos(daysAgo / 3) + (daysAgo <= 30 ? 0.024 : 0);
    const bounced = Math.round(sent * 0.009);
    return {
      project_id: projectId,
      hour: thisHour - 24 * daysAgo,
      sent,
      delivered: 0,
      opened: Math.round(sent * openRate),
      clicked: Math.round(sent * openRate * 0.16),
      bounced,
      complained: daysAgo % 9 === 0 ? 1 : 0,
    };
  });
  await db.insertInto('mail_hours').values(rows).execute();
  const outcomes = Array.from({ length: OUTCOME_HOURS }, (_, n) => ({
    project_id: projectId,
    hour: new Date((thisHour - n) * HOUR_MS),
    slot: 0,
    mails: Math.round(scale * (13 + 9 * Math.sin(((thisHour - n - 3) * Math.PI) / 12))),
    dead: n % 9 === 4 ? 1 : 0,
    complaints: 0,
  }));
  await db.insertInto('send_outcomes').values(outcomes).execute();
}

/** Builds the counts of delays that end in each hour of the next two days, with two peaks a day. */
export async function buildTimers({ db, projectId }: World): Promise<void> {
  const thisHour = Math.floor(Date.now() / HOUR_MS);
  const rows = Array.from({ length: 48 }, (_, n) => {
    const wave = Math.sin(((thisHour + n - 9) * Math.PI) / 6);
    return { project_id: projectId, second: (thisHour + n) * 3600 + 1800, booked: Math.round(140 + 110 * wave) };
  });
  // A delay of the project's executions can end in one of these seconds too.
  await db
    .insertInto('timer_seconds')
    .values(rows)
    .onConflict((row) => row.columns(['project_id', 'second']).doUpdateSet({ booked: sql`excluded.booked` }))
    .execute();
}
