import { describe, expect, it } from 'vitest';
import { buildApiKey } from '../../support/api.ts';
import { usePublicKeyApi } from '../../support/public-key.ts';

// Attacks by a caller who knows the public key from a page.
const calls = usePublicKeyApi();

describe('the same idempotency key', () => {
  it('works with a secret key and then with the public key, which does not get the earlier response', async () => {
    const sent = await calls.send({ to: 'ada.secret@victim.example' }, { idempotencyKey: 'order-1001' });
    expect(sent.status).toBe(200);
    const visitor = await calls.track({ email: 'eve@evil.example' }, { idempotencyKey: 'order-1001' });
    expect(visitor.status).toBe(200);
    expect(JSON.stringify(visitor.body)).not.toContain('victim');
  });

  it('works with the public key and then with a secret key', async () => {
    expect((await calls.track({ email: 'eve@evil.example' }, { idempotencyKey: 'order-1002' })).status).toBe(200);
    expect((await calls.send({ to: 'ada@example.com' }, { idempotencyKey: 'order-1002' })).status).toBe(200);
    const again = await calls.send({ to: 'ada@example.com' }, { idempotencyKey: 'order-1002' });
    expect(again).toMatchObject({ status: 409, body: { error: { details: { originalRequest: 'POST /v1/send' } } } });
  });

  it('in a second request with the public key gets 409; only an identical request gets the first response', async () => {
    const form = { email: 'twice@example.com' };
    const first = await calls.track(form, { idempotencyKey: 'form-1' });
    const details = { key: 'form-1', originalRequest: 'POST /v1/track', originalStatusCode: 200 };
    const second = await calls.track(form, { idempotencyKey: 'form-1' });
    expect([second.status, second.body.error]).toMatchObject([
      409,
      { code: 'IDEMPOTENCY_KEY_REUSED', details: { ...details, originalResponse: first.body } },
    ]);
    const other = await calls.track({ email: 'eve@evil.example' }, { idempotencyKey: 'form-1' });
    expect([other.status, other.body.error.details]).toMatchObject([409, { ...details, originalResponse: null }]);
    expect((await calls.track(form, { key: calls.api.two.publicKey, idempotencyKey: 'form-1' })).status).toBe(200);
  });

  it('shows the first response to another secret key only if that key may read emails', async () => {
    const sender = await buildApiKey(calls.api.db, calls.api.one.id, ['email:send']);
    const viewer = await buildApiKey(calls.api.db, calls.api.one.id, ['email:send', 'emails:view']);
    const first = await calls.send({ to: 'ada@example.com' }, { key: sender, idempotencyKey: 'order-1003' });
    const readConflict = async (key: string, call = calls.send) => {
      const person = call === calls.send ? { to: 'ada@example.com' } : { email: 'a@example.com' };
      const { status, body } = await call(person, { key, idempotencyKey: 'order-1003' });
      return [status, body.error.details.originalRequest, body.error.details.originalResponse];
    };
    expect(await readConflict(sender)).toEqual([409, 'POST /v1/send', first.body]);
    expect(await readConflict(viewer)).toEqual([409, 'POST /v1/send', first.body]);
    const another = await buildApiKey(calls.api.db, calls.api.one.id, ['email:send']);
    expect(await readConflict(another)).toEqual([409, 'POST /v1/send', null]);
    expect(await readConflict(calls.api.one.bareKey, calls.track)).toEqual([409, 'POST /v1/send', null]);
  });

  it('in a second request with a secret key gets 409; only an identical request gets the first response', async () => {
    const data = { b: 1, a: { d: 2, c: 3 } };
    const first = await calls.send({ to: 'ada@example.com', data }, { idempotencyKey: 'order-1004' });
    const reuseKey = async (body: object) => {
      const again = await calls.send(body, { idempotencyKey: 'order-1004' });
      const { sameRequest, originalResponse } = again.body.error.details;
      return [again.status, sameRequest, originalResponse];
    };
    expect(await reuseKey({ data: { a: { c: 3, d: 2 }, b: 1 }, to: 'ada@example.com' })).toEqual([
      409,
      true,
      first.body,
    ]);
    expect(await reuseKey({ to: 'eve@example.com', data })).toEqual([409, false, null]);
    expect(await reuseKey({ to: 'ada@example.com', data: { ...data, b: 2 } })).toEqual([409, false, null]);
  });
});
