import { expect, test } from 'vitest';
import { z } from 'zod';
import { toFieldErrors } from './field-errors.ts';

function messageFor(schema: z.ZodType, value: unknown): string | undefined {
  const { error } = z.object({ value: schema }).safeParse({ value });
  return toFieldErrors(error?.issues ?? [], { value })[0]?.message;
}

test.each([
  ['a type', z.string(), 5, 'Must be a string, not a number'],
  ['null', z.boolean(), null, 'Must be true or false, not null'],
  ['a list in place of a record', z.record(z.string(), z.string()), ['a'], 'Must be an object, not a list'],
  ['a fraction', z.int(), 1.5, 'Must be a whole number, not a number'],
  ['an empty string', z.string().min(1), '', 'Must not be empty'],
  ['an empty list', z.array(z.string()).min(1), [], 'Must not be empty'],
  ['a short string', z.string().min(8), 'a', 'Must have at least 8 characters'],
  ['a long string', z.string().max(2), 'abc', 'Must have at most 2 characters'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'Must have at most 1 item'],
  ['a list of another length', z.array(z.string()).length(2), ['a'], 'Must have exactly 2 items'],
  ['a large number', z.number().max(100), 101, 'Must be at most 100'],
  ['a small number', z.number().min(1), 0, 'Must be at least 1'],
  ['a number at an exclusive limit', z.number().gt(0), 0, 'Must be greater than 0'],
  ['a number that is not a multiple', z.number().multipleOf(5), 3, 'Must be a multiple of 5'],
  ['an unknown option', z.enum(['ALL', 'SEGMENT']), 'EVERYONE', 'Must be one of ALL, SEGMENT'],
  ['another literal', z.literal('v1'), 'v2', 'Must be v1'],
  ['an id', z.uuid(), 'nope', 'Must be a UUID'],
  ['a value that no alternative accepts', z.union([z.string(), z.array(z.string())]), 5, 'Must be a string or a list'],
  ['a message of the schema', z.string().min(1, 'Give the order a name'), '', 'Give the order a name'],
])('the message for %s says which values are accepted', (_, schema, value, message) => {
  expect(messageFor(schema, value)).toBe(message);
});
