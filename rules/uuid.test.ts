import { v4, validate, version } from 'uuid';
import { expect, it } from 'vitest';
import { readUuidTime, uuidv7 } from './uuid.ts';

it('ids are version 7, unique, and in the order of their creation', () => {
  const ids = Array.from({ length: 20_000 }, uuidv7);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

it('an id starts with its creation time; other versions have no time', () => {
  const before = Date.now();
  const madeAt = readUuidTime(uuidv7())?.getTime();
  expect(madeAt).toBeGreaterThanOrEqual(before);
  expect(madeAt).toBeLessThanOrEqual(Date.now());
  expect(readUuidTime(v4())).toBeUndefined();
});
