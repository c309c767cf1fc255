import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkData,
  DATA_LIMITS,
  mergeData,
  parseDataChanges,
  RESERVED_DATA_KEYS,
  unwrapValues,
} from './data-values.ts';

describe('the five data value rules', () => {
  it('stores primitives, arrays and objects unchanged', () => {
    const data = { plan: 'pro', seats: 3, trial: false, tags: ['a'], address: { city: 'Gent' } };
    expect(parseDataChanges(data)).toEqual({ set: data, remove: [], oneOff: {}, ignored: [], errors: [] });
  });

  it('deletes a field with null and skips an empty string', () => {
    const changes = parseDataChanges({ plan: null, name: '' });
    expect(changes).toMatchObject({ set: {}, remove: ['plan'], oneOff: {} });
    expect(mergeData({ plan: 'pro', name: 'Ada' }, changes)).toEqual({ name: 'Ada' });
  });

  it('uses { value, persistent: false } for this request only', () => {
    expect(parseDataChanges({ code: { value: '123', persistent: false } })).toMatchObject({
      set: {},
      oneOff: { code: '123' },
    });
    expect(parseDataChanges({ code: { persistent: false } })).toMatchObject({ set: {}, oneOff: { code: null } });
  });

  it('unwraps wrapped values, also in the payload of an event', () => {
    const limit = { value: 1, persistent: false, unit: 'GB' };
    const data = { a: { value: 1, persistent: false }, b: { value: 'x', persistent: true }, c: { persistent: false } };
    expect(unwrapValues({ ...data, limit, plan: 'pro' })).toEqual({ a: 1, b: 'x', c: null, limit, plan: 'pro' });
  });

  it('stores the value of { value, persistent: true } and applies the other rules to it', () => {
    const data = { a: { value: 1, persistent: true }, b: { value: null, persistent: true } };
    expect(parseDataChanges(data)).toMatchObject({ set: { a: 1 }, remove: ['b'] });
  });

  it('stores an object that only looks like a wrapped value', () => {
    const limit = { value: 1, persistent: false, unit: 'GB' };
    expect(parseDataChanges({ limit })).toMatchObject({ set: { limit }, oneOff: {} });
  });

  it('drops every reserved key, whether its value is persistent or not', () => {
    const keys = [...RESERVED_DATA_KEYS];
    const changes = parseDataChanges(
      Object.fromEntries(keys.map((key, i) => [key, i % 2 ? 'x' : { value: 1, persistent: false }])),
    );
    expect(changes).toEqual({ set: {}, remove: [], oneOff: {}, ignored: keys, errors: [] });
  });

  it('drops the key __proto__', () => {
    const changes = parseDataChanges(JSON.parse('{"__proto__": {"admin": true}, "constructor": "x"}'));
    expect(changes.ignored).toEqual(['__proto__']);
    expect(Object.hasOwn(changes.set, 'constructor')).toBe(true);
    expect((changes.set as { admin?: boolean }).admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe('limits of contact data', () => {
  it.each([
    ['an empty name', { '': 1 }, 'data.'],
    ['a name over 100 characters', { ['k'.repeat(101)]: 1 }, `data.${'k'.repeat(100)}`],
    ['a NUL', { a: 'x\0' }, 'data.a'],
    ['half a surrogate pair, deep inside', { a: [{ b: '\ud83d' }] }, 'data.a'],
    ['an infinite number', { a: Number.POSITIVE_INFINITY }, 'data.a'],
  ])('contact data refuses %s', (_, data, field) => {
    expect(parseDataChanges(data).errors.map((error) => error.field)).toEqual([field]);
  });

  it('accepts 200 keys and refuses 201', () => {
    const createKeys = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]));
    expect(parseDataChanges(createKeys(200)).errors).toEqual([]);
    expect(parseDataChanges(createKeys(201)).errors).toMatchObject([{ field: 'data', code: 'too_big' }]);
  });

  it('counts bytes of JSON, not characters', () => {
    const room = DATA_LIMITS.bytes - '{"a":""}'.length;
    expect(checkData({ a: 'x'.repeat(room) })).toEqual([]);
    expect(checkData({ a: 'x'.repeat(room + 1) })).toMatchObject([{ code: 'too_big' }]);
    expect(checkData({ a: 'é'.repeat(room / 2 + 1) })).toMatchObject([{ code: 'too_big' }]);
  });

  it('refuses a value nested too deep instead of overflowing the stack', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 10_000; i++) deep = [deep];
    expect(parseDataChanges({ deep }).errors).toMatchObject([{ field: 'data.deep', code: 'too_big' }]);
  });
});

describe('the result of parseDataChanges, for any data', () => {
  const data = fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 20,
  });

  it('has every key in exactly one list, except keys whose value is an empty string', () => {
    fc.assert(
      fc.property(data, (input) => {
        const { set, remove, oneOff, ignored, errors } = parseDataChanges(input);
        const placed = [...Object.keys(set), ...remove, ...Object.keys(oneOff), ...ignored];
        expect(new Set(placed).size).toBe(placed.length);
        const skipped = Object.keys(input).filter((key) => !placed.includes(key));
        for (const key of skipped) expect(input[key] === '' || errors.length > 0).toBe(true);
      }),
    );
  });

  it('has no further effect when it is merged twice, and stores no null and no empty string', () => {
    fc.assert(
      fc.property(data, data, (current, input) => {
        const changes = parseDataChanges(input);
        const once = mergeData(parseDataChanges(current).set, changes);
        expect(mergeData(once, changes)).toEqual(once);
        for (const [key, value] of Object.entries(changes.set)) expect([once[key], value]).not.toContain(null);
      }),
    );
  });
});

it.each(['Subscribed', ' subscribed ', 'sms_subscribed', 'SMS Subscribed'])('%j is consent, not data', (key) => {
  expect(parseDataChanges({ [key]: false }).errors).toMatchObject([
    { message: expect.stringContaining('is not data') },
  ]);
});
