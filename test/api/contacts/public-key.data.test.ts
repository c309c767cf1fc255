import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { usePublicKeyApi } from '../../support/public-key.ts';

// Attacks by a caller who knows the public key from a page.
const KB = 1024;
const calls = usePublicKeyApi();

const readData = async (email: string) => (await calls.contactOf(email)).data;
const createFields = (count: number, value: unknown = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, value]));

describe('data from requests with the public key', () => {
  it('is limited to 20 fields per contact, which do not count toward the project’s own limit', async () => {
    await calls.save({ email: 'blocked@example.com', data: { plan: 'pro' } });
    expect((await calls.track({ email: 'blocked@example.com', data: createFields(199) })).status).toBe(200);
    expect(Object.keys(await readData('blocked@example.com'))).toHaveLength(21);
    const mail = await calls.send({
      to: ['blocked@example.com', 'b@example.com', 'c@example.com'],
      data: { resetCode: '123456' },
    });
    expect(mail.status).toBe(200);
    const own = Object.fromEntries(Array.from({ length: 198 }, (_, i) => [`own${i}`, i]));
    expect((await calls.save({ email: 'blocked@example.com', data: own })).status).toBe(200);
    expect((await calls.save({ email: 'blocked@example.com', data: { oneMore: 1 } })).status).toBe(422);
  });

  it('does not make a send fail if it was stored before this limit existed', async () => {
    await calls.save({ email: 'old@example.com' });
    const stored = createFields(200, 'x'.repeat(300));
    await sql`
      UPDATE contacts SET data = ${JSON.stringify(stored)}::jsonb, untrusted_keys = ${Object.keys(stored)}
      WHERE project_id = ${calls.api.one.id} AND email = 'old@example.com'
    `.execute(calls.api.db);
    expect((await calls.send({ to: 'old@example.com', data: { resetCode: 'x'.repeat(8 * KB) } })).status).toBe(200);
  });

  it('is limited to 20 fields and 4 KB over all requests; the recorded event has all of it', async () => {
    for (let n = 0; n < 3; n += 1) {
      const data = { [`note${n}`]: 'y'.repeat(1_500), ...Object.fromEntries([[`short${n}`, n]]) };
      expect((await calls.track({ email: 'quota@example.com', data })).status).toBe(200);
    }
    expect(Object.keys(await readData('quota@example.com')).sort()).toEqual([
      'note0',
      'note1',
      'short0',
      'short1',
      'short2',
    ]);
    await calls.track({ email: 'quota@example.com', data: { note0: 'shorter', note2: 'z'.repeat(2_000) } });
    expect(await readData('quota@example.com')).toMatchObject({ note0: 'shorter', note2: 'z'.repeat(2_000) });
    const { rows } = await sql<{ data: object }>`
      SELECT data FROM events WHERE project_id = ${calls.api.one.id} AND data ? 'note2' ORDER BY id LIMIT 1`.execute(
      calls.api.db,
    );
    expect(rows[0]?.data).toEqual({ note2: 'y'.repeat(1_500), short2: 2 });
  });

  it('keeps its limits and loses no allowed field in concurrent requests', async () => {
    await calls.save({ email: 'race@example.com' });
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        calls.track({ email: 'race@example.com', event: `e${n}`, data: { [`k${n}`]: n } }),
      ),
    );
    expect(Object.keys(await readData('race@example.com'))).toHaveLength(20);
  });

  it('can neither overwrite nor remove values of the project, but can change its own values', async () => {
    await calls.save({ email: 'carol@example.com', data: { name: 'Carol', phone: '+4915112345678', plan: 'pro' } });
    const { status } = await calls.track({
      email: 'carol@example.com',
      data: { name: 'Mallory', phone: '+4900000000', plan: null, size: 'M' },
    });
    expect(status).toBe(200);
    const trusted = { name: 'Carol', phone: '+4915112345678', plan: 'pro' };
    expect(await readData('carol@example.com')).toEqual({ ...trusted, size: 'M' });
    await calls.track({ email: 'carol@example.com', data: { size: 'L' } });
    expect(await readData('carol@example.com')).toEqual({ ...trusted, size: 'L' });
    await calls.track({ email: 'carol@example.com', data: { size: null } });
    expect(await readData('carol@example.com')).toEqual({ ...trusted, size: 'L' });
    await calls.save({ email: 'carol@example.com', data: { size: 'XL' } });
    await calls.track({ email: 'carol@example.com', data: { size: 'S' } });
    expect(await readData('carol@example.com')).toEqual({ ...trusted, size: 'XL' });
  });
});
