import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addSuppressions } from '../../db/contacts/suppressions.ts';
import { type UpsertedContact, upsertContacts } from '../../db/contacts/upsert.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ContactUpsert } from '../../rules/contacts/change.ts';
import { mergeData } from '../../rules/filters/data-values.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const suppressionKey = randomBytes(32);
let database: TestDatabase;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  projectId = uuidv7();
  await sql`
    INSERT INTO projects (id, name, public_key, public_key_hash) VALUES (${projectId}, 'p', ${projectId}, ${Buffer.from(projectId)})
  `.execute(database.db);
});

function upsert(
  rows: Partial<ContactUpsert>[],
  options: { liftsUnsubscribe?: boolean } = {},
): Promise<UpsertedContact[]> {
  const whole = rows.map((row) => ({ email: 'a@x.com', set: {}, remove: [], by: 'project' as const, ...row }));
  return inTransaction(database.db, (trx) =>
    upsertContacts(trx, { projectId, rows: whole, defaultSubscribed: true, suppressionKey, causeId: null, ...options }),
  );
}

async function readStored(): Promise<Record<string, { subscribed: boolean; data: object; untrusted: string[] }>> {
  const { rows } = await sql<{ email: string; subscribed: boolean; data: object; untrusted: string[] }>`
    SELECT email, subscribed, data, untrusted_keys AS untrusted FROM contacts WHERE project_id = ${projectId} ORDER BY email
  `.execute(database.db);
  return Object.fromEntries(rows.map(({ email, ...contact }) => [email, contact]));
}

const suppress = (reason: 'unsubscribe' | 'complaint' | 'hard_bounce' | 'manual') =>
  addSuppressions(database.db, suppressionKey, { projectId, entries: [{ email: 'a@x.com', reason, source: 'test' }] });

describe('upserting contacts', () => {
  it('applies subscribedIfNew to a new contact without another consent value, and does not change an existing contact', async () => {
    await upsert([{ email: 'known@x.com', subscribed: true }]);
    await upsert([
      { email: 'known@x.com', subscribedIfNew: false },
      { email: 'new@x.com', subscribedIfNew: false },
      { email: 'both@x.com', subscribedIfNew: false },
      { email: 'both@x.com', subscribed: true },
    ]);
    const subscribed = Object.entries(await readStored()).map(([email, contact]) => [email, contact.subscribed]);
    expect(subscribed).toEqual([
      ['both@x.com', true],
      ['known@x.com', true],
      ['new@x.com', false],
    ]);
  });

  it('returns one result per row, in order, and each change of subscription once', async () => {
    await upsert([{ email: 'known@x.com', subscribed: true }]);
    const results = await upsert([
      { email: 'new@x.com', set: { a: 1 } },
      { email: 'known@x.com', subscribed: false },
      { email: ' NEW@x.com ', set: { b: 2 } },
      { email: 'known@x.com' },
    ]);
    expect(results.map(({ email, isNew, subscriptionChanged }) => [email, isNew, subscriptionChanged])).toEqual([
      ['new@x.com', true, false],
      ['known@x.com', false, false],
      ['new@x.com', false, false],
      ['known@x.com', false, true],
    ]);
    expect(results[0]?.data.values).toEqual({ a: 1, b: 2 });
  });

  it('has the same effect in one call as in separate calls', async () => {
    const row = fc.record({
      email: fc.constantFrom('a@x.com', 'b@x.com', 'c@x.com'),
      subscribed: fc.constantFrom(undefined, true, false),
      set: fc.dictionary(fc.constantFrom('k', 'l', 'm"\\{},'), fc.constantFrom(1, 'text', true, [1], { n: null })),
      remove: fc.subarray(['k', 'l', 'm"\\{},', 'other']),
    });
    const model = new Map<string, { subscribed: boolean; data: Record<string, unknown> }>();
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 6 }), async (rows) => {
        const clean = rows.map((one) => ({ ...one, remove: one.remove.filter((key) => !(key in one.set)) }));
        for (const one of clean) {
          const before = model.get(one.email) ?? { subscribed: true, data: {} };
          model.set(one.email, {
            subscribed: one.subscribed ?? before.subscribed,
            data: mergeData(before.data, one),
          });
        }
        await upsert(clean);
        const seen = Object.entries(await readStored()).map(([email, { subscribed, data }]) => [
          email,
          { subscribed, data },
        ]);
        expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(model));
      }),
      { numRuns: 40 },
    );
  });

  it('loses nothing and creates each contact once in concurrent requests', async () => {
    const sides = Array.from({ length: 12 }, (_, side) =>
      upsert(
        Array.from({ length: 40 }, (_, i) => ({ email: `p${(i * 7 + side) % 40}@x.com`, set: { [`s${side}`]: side } })),
      ),
    );
    const results = (await Promise.all(sides)).flat();
    expect(results.filter((contact) => contact.isNew)).toHaveLength(40);
    const contacts = Object.values(await readStored());
    expect(contacts).toHaveLength(40);
    for (const { data } of contacts) expect(Object.keys(data)).toHaveLength(12);
  });

  it('marks values from the public key as untrusted, until the secret key writes them', async () => {
    await upsert([{ set: { mine: 1, both: 1 } }]);
    await upsert([{ set: { both: 1, theirs: 2 }, by: 'unauthenticated' }]);
    expect((await readStored())['a@x.com']?.untrusted).toEqual(['theirs']);
    await upsert([{ set: { both: 2, theirs: 3, more: 4 }, remove: ['mine'], by: 'unauthenticated' }]);
    expect((await readStored())['a@x.com']).toMatchObject({
      data: { mine: 1, both: 1, theirs: 3, more: 4 },
      untrusted: ['more', 'theirs'],
    });
    await upsert([{ set: { theirs: 3 } }]);
    expect((await readStored())['a@x.com']?.untrusted).toEqual(['more']);
    await upsert([{ remove: ['more'] }]);
    expect((await readStored())['a@x.com']?.untrusted).toEqual([]);
  });

  it('by a workflow step keeps copied untrusted data untrusted, and subscribes only contacts that the data’s caller could subscribe', async () => {
    await upsert([
      { email: 'left@x.com', set: { plan: 'pro' } },
      { email: 'new@x.com', subscribed: false },
    ]);
    await upsert([{ email: 'left@x.com', subscribed: false }]);
    const step = {
      subscribed: true,
      set: { plan: 'free', site: 'x' },
      by: { copied: new Set(['site']), untrustedTrigger: true },
    };
    await upsert([
      { email: 'left@x.com', ...step },
      { email: 'new@x.com', ...step },
    ]);
    const data = { plan: 'free', site: 'x' };
    expect(await readStored()).toEqual({
      'left@x.com': { subscribed: false, data, untrusted: ['site'] },
      'new@x.com': { subscribed: true, data, untrusted: ['site'] },
    });
    await upsert([{ email: 'new@x.com', subscribed: false, by: { copied: new Set(), untrustedTrigger: true } }]);
    expect((await readStored())['new@x.com']?.subscribed).toBe(false);
  });

  it.each(['unsubscribe', 'complaint', 'hard_bounce', 'manual'] as const)(
    'by the public key or an import does not override a suppression with reason %s',
    async (reason) => {
      await upsert([{ subscribed: false }]);
      await suppress(reason);
      const [byPublicKey] = await upsert([{ subscribed: true, set: { a: 1 }, by: 'unauthenticated' }]);
      expect(byPublicKey).toMatchObject({ subscribed: false, subscriptionChanged: false, data: { values: { a: 1 } } });
      const [byImport] = await upsert([{ subscribed: true }], { liftsUnsubscribe: false });
      expect(byImport).toMatchObject({ subscribed: false });
      await sql`DELETE FROM contacts WHERE project_id = ${projectId}`.execute(database.db);
      const [anew] = await upsert([{ by: 'unauthenticated' }]);
      expect(anew).toMatchObject({ isNew: true, subscribed: false });
    },
  );

  it('by the public key subscribes contacts that were created unsubscribed, and none that were unsubscribed later', async () => {
    await upsert([{ subscribed: false }]);
    expect((await upsert([{ subscribed: true, by: 'unauthenticated' }]))[0]).toMatchObject({
      subscribed: true,
      subscriptionChanged: true,
    });
    await upsert([{ subscribed: false, by: 'unauthenticated' }]);
    expect((await readStored())['a@x.com']?.subscribed).toBe(true);
    await upsert([{ subscribed: false }]);
    await upsert([{ subscribed: true, by: 'unauthenticated' }]);
    expect((await readStored())['a@x.com']?.subscribed).toBe(false);
  });

  it('stores a refusal also if the contact is already unsubscribed', async () => {
    await upsert([{ subscribed: false }]);
    await upsert([{ subscribed: false }]);
    expect((await upsert([{ subscribed: true, by: 'unauthenticated' }]))[0]?.subscribed).toBe(false);
  });

  it('writes nothing at all if one contact would get too much data', async () => {
    const tooMuch = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`k${i}`, 1]));
    await expect(upsert([{ email: 'ok@x.com' }, { set: tooMuch }])).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await readStored()).toEqual({});
  });

  it('delays a deletion of the contact until the transaction ends', async () => {
    const [contact] = await upsert([{}]);
    let deleted = false;
    await inTransaction(database.db, async (trx) => {
      await upsertContacts(trx, {
        projectId,
        rows: [{ email: 'a@x.com', set: {}, remove: [], by: 'project' }],
        defaultSubscribed: true,
        suppressionKey,
        causeId: null,
      });
      const deletion = sql`DELETE FROM contacts WHERE id = ${contact?.id}`
        .execute(database.db)
        .then(() => (deleted = true));
      void deletion.catch(() => {});
      const waiting = sql<{ n: number }>`
        SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      while ((await waiting.execute(trx)).rows[0]?.n === 0) expect(deleted).toBe(false);
    });
    await expect.poll(() => deleted).toBe(true);
  });
});
