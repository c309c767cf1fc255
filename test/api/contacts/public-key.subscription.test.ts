import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { usePublicKeyApi } from '../../support/public-key.ts';

// Attacks by a caller who knows the public key from a page.
const calls = usePublicKeyApi();

const listEventNames = async (email: string): Promise<string[]> => {
  const { id } = await calls.contactOf(email);
  const { rows } = await sql<{ name: string }>`SELECT name FROM events WHERE contact_id = ${id} ORDER BY id`.execute(
    calls.api.db,
  );
  return rows.map((row) => row.name);
};

describe('`subscribed` in requests with the public key', () => {
  const readSubscribed = async (email: string) => (await calls.contactOf(email)).subscribed;

  it('false unsubscribes no existing contact', async () => {
    await calls.save({ email: 'dora@example.com', subscribed: true });
    expect((await calls.track({ email: 'dora@example.com', subscribed: false })).status).toBe(200);
    expect(await readSubscribed('dora@example.com')).toBe(true);
    expect(await listEventNames('dora@example.com')).toEqual([
      'contact.subscribed',
      'page_form',
      'contact.unsubscribe_requested',
    ]);
  });

  it('true subscribes no contact that the project unsubscribed', async () => {
    const { body } = await calls.save({ email: 'erin@example.com', subscribed: true });
    await calls.api.call('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } });
    await calls.track({ email: 'erin@example.com', subscribed: true, data: { a: 1 } });
    expect(await calls.contactOf('erin@example.com')).toMatchObject({ subscribed: false, data: { a: 1 } });
    expect(await listEventNames('erin@example.com')).toEqual([
      'contact.subscribed',
      'contact.unsubscribed',
      'page_form',
    ]);
  });

  it.each(['unsubscribe', 'complaint', 'hard_bounce', 'manual'])(
    'true removes no address from the suppression list: %s',
    async (reason) => {
      const email = `listed-${reason.replace('_', '-')}@example.com`;
      await calls.save({ email, subscribed: false });
      await calls.api.call('POST', '/suppressions', { body: { email, reason } });
      await calls.track({ email, subscribed: true });
      expect(await readSubscribed(email)).toBe(false);
    },
  );

  it('true subscribes a contact that was created unsubscribed by any caller', async () => {
    await calls.save({ email: 'saved@example.com', subscribed: false });
    await calls.send({ to: 'sent@example.com' });
    await calls.track({ email: 'declined@example.com', subscribed: false });
    expect(await readSubscribed('declined@example.com')).toBe(false);
    for (const email of ['saved@example.com', 'sent@example.com', 'declined@example.com']) {
      await calls.track({ email, subscribed: true });
      expect([email, await readSubscribed(email)]).toEqual([email, true]);
      expect(await listEventNames(email)).toContain('contact.subscribed');
    }
  });

  it('true does not undo a concurrent unsubscription', async () => {
    for (let n = 0; n < 15; n += 1) {
      const email = `race-${n}@example.com`;
      const { body } = await calls.save({ email, subscribed: true });
      await Promise.all([
        calls.api.call('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } }),
        calls.track({ email, subscribed: true, data: { n } }),
        calls.track({ email, subscribed: true, data: { n: n + 1 } }),
      ]);
      expect(await readSubscribed(email)).toBe(false);
    }
  });

  it('true subscribes a contact from before the service stored unsubscriptions only if no event recorded one', async () => {
    for (const email of ['before-left@example.com', 'before-new@example.com']) {
      const { body } = await calls.save({ email, subscribed: email.includes('left') });
      if (email.includes('left'))
        await calls.api.call('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } });
      await sql`UPDATE contacts SET was_unsubscribed = NULL WHERE id = ${body.id}`.execute(calls.api.db);
      await calls.track({ email, subscribed: true });
    }
    expect(await readSubscribed('before-left@example.com')).toBe(false);
    expect(await readSubscribed('before-new@example.com')).toBe(true);
  });
});
