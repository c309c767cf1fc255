import { describe, expect, it } from 'vitest';
import { usePublicKeyApi } from '../../support/public-key.ts';

// Attacks by a caller who knows the public key from a page.
const calls = usePublicKeyApi();

describe('the response to the public key', () => {
  const timeless = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  it('does not reveal whether or since when a contact exists, and is the same for the same person', async () => {
    const { body: known } = await calls.save({ email: 'known@example.com', data: { vip: true } });
    const ids = [];
    for (const email of ['known@example.com', 'unknown@example.com', ' Known@Example.com ', 'unknown@example.com']) {
      const { status, body, headers } = await calls.track({
        email,
        subscribed: true,
        data: { vip: false, note: null },
      });
      expect([status, Object.keys(body), Object.keys(body.data), headers.get('x-ignored-fields')]).toEqual([
        200,
        ['success', 'data'],
        ['contact', 'event', 'timestamp', 'mode'],
        null,
      ]);
      ids.push(body.data.contact);
    }
    expect(ids).toEqual([ids[0], ids[1], ids[0], ids[1]]);
    for (const id of ids) expect(id).toMatch(timeless);
    expect(ids[0]).not.toBe(known.id);
    expect((await calls.api.call('GET', `/contacts/${ids[0]}`)).status).toBe(404);
    const elsewhere = await calls.track({ email: 'known@example.com' }, { key: calls.api.two.publicKey });
    expect(elsewhere.body.data.contact).not.toBe(ids[0]);
    await calls.api.call('DELETE', `/contacts/${known.id}`);
    expect((await calls.track({ email: 'known@example.com' })).body.data.contact).toBe(ids[0]);
  });

  it('has a pseudonymous contact id, whereas a secret key gets the real one', async () => {
    const { body } = await calls.track({ email: 'mine@example.com' }, { key: calls.api.one.secretKey });
    expect((await calls.api.call('GET', `/contacts/${body.data.contact}`)).body.email).toBe('mine@example.com');
  });

  it.each(['/v1/pixel', '/v1/back-in-stock'])('has no contact id for %s', async (path) => {
    await calls.api.call('PUT', '/storefront/variants', {
      body: { variants: [{ variantId: '1', productTitle: 'J', title: 'M', available: false }] },
    });
    const body = path.endsWith('pixel')
      ? { name: 'viewed', email: 'pixel@example.com' }
      : { email: 'stock@example.com', storefrontVariantId: '1' };
    const response = await calls.api.call('POST', path, { key: calls.api.one.publicKey, body });
    expect([response.status, response.body]).toEqual([
      202,
      path.endsWith('pixel') ? { accepted: 1 } : { subscribed: true },
    ]);
  });
});
