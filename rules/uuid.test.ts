import { v4, validate, version } from 'uuid';
import { expect, it } from 'vitest';
import { readUuidTime, uuidv7 } from './uuid.ts';

it('ids are version 7, unique, and in the order of their creation', () => {
  const ids = Array.from({ length: 20_000 }, uuidv7);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

it('the creation time is read from an id of version 7; other versions have no time', () => {
  const before = Date.now();
  const madeAt = readUuidTime(uuidv7())?.getTime();
  expect(madeAt).toBeGreaterThanOrEqual(before);
  expect(madeAt).toBeLessThanOrEqual(Date.now());
  expect(readUuidTime(v4())).toBeUndefined();
});
