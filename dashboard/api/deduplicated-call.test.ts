import { expect, it } from 'vitest';
import { ApiFailure } from './client.ts';
import { createDeduplicatedCall } from './deduplicated-call.ts';
import { createUnreachableFailure } from './failure.ts';

const input = { params: { id: 'c1' }, body: { latePolicy: 'SEND' as const } };
const refusal = new ApiFailure({ status: 409, code: 'CONFLICT', message: 'No.' });

/** Creates a call whose requests end with `ends`, in this order. `keys` has the Idempotency-Key of each request. */
function setUp(...ends: (ApiFailure | 'done')[]) {
  const keys: (string | undefined)[] = [];
  const write = createDeduplicatedCall('sendCampaign', async (_id, _input, { idempotencyKey }) => {
    const end = ends[keys.length];
    keys.push(idempotencyKey);
    await Promise.resolve();
    if (end !== 'done') throw end;
    return { success: true, message: `Answer ${keys.length}` } as never;
  });
  return { keys, write };
}

it('joins an equal request that is running, and sends a new one after it', async () => {
  const { keys, write } = setUp('done', 'done', 'done');
  const [first, second, other] = await Promise.all([write(input), write(input), write({ params: { id: 'c2' } })]);
  expect(first).toBe(second);
  expect(other).not.toBe(first);
  await write(input);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(3);
  expect(keys[0]).toMatch(/^[\w-]{36}$/);
});

it('keeps the key if the response was lost, and uses a new one after a response', async () => {
  const { keys, write } = setUp(createUnreachableFailure(), refusal, 'done', 'done');
  await expect(write(input)).rejects.toThrow('does not respond');
  await expect(write(input)).rejects.toThrow('No.');
  await write(input);
  await write(input);
  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(3);
});

it('sends no key if the response has a secret that is shown once', async () => {
  const keys: (string | undefined)[] = [];
  const write = createDeduplicatedCall('rotatePublicKey', async (_id, _input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return {} as never;
  });
  await write({});
  expect(keys).toEqual([undefined]);
});
