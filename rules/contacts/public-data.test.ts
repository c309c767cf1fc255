import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Data } from '../filters/data-values.ts';
import { PUBLIC_DATA_LIMITS, selectPublicData, splitByWriter } from './public-data.ts';

const createFields = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, i]));
const createUntrusted = (data: Data) => ({ data, untrustedKeys: Object.keys(data) });

describe('data that the public key may write', () => {
  it('includes a whole form for an empty contact, up to 20 fields and 4 KB', () => {
    expect(selectPublicData(createUntrusted({}), { a: 1, b: [2] })).toEqual({ a: 1, b: [2] });
    expect(selectPublicData(createUntrusted({}), createFields(25))).toEqual(createFields(20));
    expect(selectPublicData(createUntrusted({}), { a: 'x'.repeat(4_000), b: 'y'.repeat(200), c: 1 })).toEqual({
      a: 'x'.repeat(4_000),
      c: 1,
    });
    expect(selectPublicData(createUntrusted({}), { a: 'ä'.repeat(2_100) })).toEqual({});
  });

  it('excludes fields that the project wrote', () => {
    const stored = { data: { mine: 1, theirs: 2 }, untrustedKeys: ['theirs'] };
    expect(selectPublicData(stored, { mine: 3, theirs: 4, toString: 5 })).toEqual({ theirs: 4, toString: 5 });
  });

  it('counts existing untrusted data, which untrusted callers may shrink', () => {
    expect(selectPublicData(createUntrusted(createFields(19)), createFields(3, 18))).toEqual({ k18: 0, k19: 1 });
    const full = createUntrusted(createFields(200));
    expect(selectPublicData(full, { k0: 'new', more: 1 })).toEqual({ k0: 'new' });
    const large = createUntrusted({ a: 'x'.repeat(10_000) });
    expect(selectPublicData(large, { a: 'x'.repeat(9_000), b: 1 })).toEqual({ a: 'x'.repeat(9_000) });
  });

  it('never exceeds its limits, for any data in any order', () => {
    const request = fc.dictionary(fc.constantFrom(...Object.keys(createFields(40))), fc.string({ maxLength: 600 }), {
      maxKeys: 40,
    });
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 6 }),
        fc.dictionary(fc.constantFrom('k1', 'k2', 'own'), fc.integer()),
        (requests, own) => {
          let data: Data = { ...own };
          const untrustedKeys: string[] = [];
          for (const set of requests) {
            const written = selectPublicData({ data, untrustedKeys }, set);
            for (const key of Object.keys(written)) if (!untrustedKeys.includes(key)) untrustedKeys.push(key);
            data = { ...data, ...written };
          }
          const kept = splitByWriter({ data, untrustedKeys });
          expect(kept.own).toEqual(own);
          expect(untrustedKeys.length).toBeLessThanOrEqual(PUBLIC_DATA_LIMITS.keys);
          expect(Buffer.byteLength(JSON.stringify(kept.untrusted))).toBeLessThanOrEqual(PUBLIC_DATA_LIMITS.bytes + 2);
        },
      ),
    );
  });
});
