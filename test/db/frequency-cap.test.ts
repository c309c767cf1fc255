import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { takeEmailSlots } from '../../db/sending/frequency.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const CAP = { max: 2, days: 7 };

let database: TestDatabase;
let projectId: string;
let contactId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Cap')).id;
  contactId = await buildContact(database.db, { projectId });
});

const buildCampaignEmail = () =>
  buildEmail(database.db, { projectId, contactId, type: 'MARKETING', sourceType: 'CAMPAIGN', status: 'SENDING' });
const updateEmail = (id: string, values: object) =>
  database.db.updateTable('emails').set(values).where('id', '=', id).execute();

/** Returns the emails that get a slot under the frequency cap. */
async function takeSlots(...ids: string[]): Promise<string[]> {
  const emails = ids.map((id) => ({ id, contactId }));
  const refused = await takeEmailSlots(database.db, { projectId, cap: CAP, emails });
  return ids.filter((id) => !refused.has(id));
}

it('a contact has as many slots as the frequency cap, also within one statement, and an email keeps its slot', async () => {
  const [a, b, c] = [await buildCampaignEmail(), await buildCampaignEmail(), await buildCampaignEmail()];
  expect(await takeSlots(a, b, c)).toEqual([a, b]);
  // Claims the emails again, as a worker does after its process was killed.
  expect(await takeSlots(c, b)).toEqual([b]);
  expect(await takeSlots(a)).toEqual([a]);
  expect(await takeSlots(c)).toEqual([]);
});

it('concurrent claims never use the same slot of a frequency cap', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, buildCampaignEmail));
  const granted = await Promise.all(ids.map((id) => takeSlots(id)));
  expect(granted.flat()).toHaveLength(CAP.max);
});

it('a claim that waits for another one then counts the slots that the other one took', async () => {
  const [a, b, c] = [await buildCampaignEmail(), await buildCampaignEmail(), await buildCampaignEmail()];
  let waiting: Promise<string[]> | undefined;
  await database.db.transaction().execute(async (trx) => {
    const emails = [a, b].map((id) => ({ id, contactId }));
    expect(await takeEmailSlots(trx, { projectId, cap: CAP, emails })).toEqual(new Set());
    waiting = takeSlots(c);
    const isWaiting = sql<{
      n: number;
    }>`SELECT count(*) AS n FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`;
    while (((await isWaiting.execute(database.db)).rows[0]?.n ?? 0) === 0);
  });
  expect(await waiting).toEqual([]);
});

it('a failed transaction frees its slots', async () => {
  const [a, b, c] = [await buildCampaignEmail(), await buildCampaignEmail(), await buildCampaignEmail()];
  const killed = database.db.transaction().execute(async (trx) => {
    await takeEmailSlots(trx, { projectId, cap: CAP, emails: [a, b].map((id) => ({ id, contactId })) });
    throw new Error('killed');
  });
  await expect(killed).rejects.toThrow('killed');
  expect(await takeSlots(c, a)).toEqual([c, a]);
});

it('a failed email frees its slot, and a sent email counts for the days of the cap', async () => {
  const [a, b, c, d] = [
    await buildCampaignEmail(),
    await buildCampaignEmail(),
    await buildCampaignEmail(),
    await buildCampaignEmail(),
  ];
  await takeSlots(a, b);
  await updateEmail(a, { status: 'FAILED' });
  await updateEmail(b, { status: 'SENT', sent_at: new Date() });
  expect(await takeSlots(c)).toEqual([c]);
  expect(await takeSlots(d)).toEqual([]);
  await sql`DELETE FROM frequency_slots`.execute(database.db);
  await updateEmail(c, { status: 'BOUNCED', sent_at: new Date(Date.now() - 6 * 86_400_000) });
  expect(await takeSlots(d)).toEqual([]);
  await updateEmail(c, { status: 'BOUNCED', sent_at: new Date(Date.now() - 7 * 86_400_000 - 1_000) });
  expect(await takeSlots(d)).toEqual([d]);
});

it('test, transactional and requested emails use no slots', async () => {
  const sent = { projectId, contactId, status: 'SENT' as const, type: 'MARKETING' as const };
  const others = [
    await buildEmail(database.db, { ...sent, sourceType: 'CAMPAIGN', mode: 'test' }),
    await buildEmail(database.db, { ...sent, sourceType: 'WORKFLOW', type: 'TRANSACTIONAL' }),
    await buildEmail(database.db, { ...sent, sourceType: 'TRANSACTIONAL' }),
  ];
  for (const id of others) await updateEmail(id, { sent_at: new Date() });
  const [a, b] = [await buildCampaignEmail(), await buildCampaignEmail()];
  expect(await takeSlots(a, b)).toEqual([a, b]);
});
