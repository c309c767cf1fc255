import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createMonthRow } from '../../db/sending/monthly-usage.ts';
import { buildEmail } from '../build/emails.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Usage')).id;
});
afterAll(() => database?.drop());

interface Earlier {
  sourceType?: 'TRANSACTIONAL' | 'WORKFLOW' | 'CAMPAIGN';
  status: string;
  attempts?: number;
  reason?: string;
  error?: string;
  /** Minutes from the insertion of the row to its failure. */
  failedAfter?: number;
}

/** Returns how many of the emails, which all exist when a limit is set, count toward the limit. */
async function countEarlier(...emails: Earlier[]): Promise<number | undefined> {
  for (const { sourceType = 'CAMPAIGN', status, attempts = 0, ...e } of emails) {
    const id = await buildEmail(database.db, { projectId, sourceType });
    await sql`
      UPDATE emails SET status = ${status}, attempts = ${attempts}, reason = ${e.reason ?? null}, error = ${e.error ?? null},
        failed_at = created_at + make_interval(mins => ${e.failedAfter ?? null}::int),
        sent_at = CASE WHEN ${status} = 'SENT' THEN now() END
      WHERE id = ${id}`.execute(database.db);
  }
  await createMonthRow(database.db, projectId);
  const { rows } = await sql<{ emails: number }>`
    SELECT emails FROM monthly_usage WHERE project_id = ${projectId}`.execute(database.db);
  return rows[0]?.emails;
}

it('the count of earlier emails excludes recipients that were skipped when the audience was stored', async () => {
  const failed = { status: 'FAILED', failedAfter: 0 };
  const excluded = ['unsubscribed', 'suppressed:manual', 'limit_reached'].map((reason) => ({ ...failed, reason }));
  expect(await countEarlier(...excluded, { status: 'FAILED', reason: 'unsubscribed' })).toBe(0);
});

it('the count of earlier emails includes recipients that were counted first and skipped or failed later', async () => {
  const later = { status: 'FAILED', failedAfter: 1 };
  expect(
    await countEarlier(
      { status: 'PENDING' },
      { status: 'SENT', attempts: 1 },
      { ...later, reason: 'frequency_capped' },
      { ...later, reason: 'cancelled' },
      { ...later, reason: 'provider_rejected', attempts: 1, error: '550 no' },
      { status: 'FAILED', reason: 'provider_rejected', attempts: 1, error: '550 no' },
    ),
  ).toBe(6);
});

it('the count of earlier emails excludes emails of workflows before and during their first attempt', async () => {
  const sourceType = 'WORKFLOW' as const;
  const failed = { sourceType, status: 'FAILED', attempts: 1, failedAfter: 1 };
  expect(
    await countEarlier(
      { sourceType, status: 'PENDING' },
      { sourceType, status: 'HELD' },
      { sourceType, status: 'SENDING', attempts: 1 },
      { ...failed, attempts: 0, reason: 'cancelled' },
      { ...failed, reason: 'unsubscribed' },
      { ...failed, reason: 'limit_reached' },
      { ...failed, reason: 'template_error', error: 'subject: no' },
    ),
  ).toBe(0);
});

it('the count of earlier emails includes emails of workflows after their first attempt, and all of the API', async () => {
  const sourceType = 'WORKFLOW' as const;
  expect(
    await countEarlier(
      { sourceType, status: 'SENT', attempts: 1 },
      { sourceType, status: 'SENT' },
      { sourceType, status: 'SENDING', attempts: 1, error: '451 later' },
      { sourceType, status: 'SENDING', attempts: 2 },
      { sourceType, status: 'HELD', attempts: 1 },
      { sourceType, status: 'BOUNCED', attempts: 1, reason: 'bounced:dead_mailbox', error: '550 no' },
      { sourceType, status: 'FAILED', attempts: 2, reason: 'unsubscribed', failedAfter: 1 },
      { sourceType, status: 'FAILED', attempts: 1, reason: 'provider_rejected', error: '550 no', failedAfter: 1 },
      { sourceType: 'TRANSACTIONAL', status: 'PENDING' },
      { sourceType: 'TRANSACTIONAL', status: 'FAILED', reason: 'suppressed:manual', attempts: 1, failedAfter: 1 },
    ),
  ).toBe(10);
});
