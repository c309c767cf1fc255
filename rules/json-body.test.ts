import { expect, test } from 'vitest';
import { readJsonBody } from './json-body.ts';

const rules = { filesAt: ['files'], maxOtherBytes: 1_000 };
const readBody = (body: unknown, more = rules) => readJsonBody(Buffer.from(JSON.stringify(body)), more);
const base64 = Buffer.from('Hello').toString('base64');

test('files are removed from a body and decoded, in the order of their records', () => {
  const body = {
    files: [
      { content: base64, name: 'a' },
      { name: 'b' },
      7,
      { content: `${base64.slice(0, 4)}\r\n${base64.slice(4)}` },
    ],
  };
  const found = readBody(body);
  if (found.fault !== undefined) throw new Error(found.fault);
  expect(found.files.map((file) => file && Buffer.from(file).toString())).toEqual([
    'Hello',
    undefined,
    undefined,
    'Hello',
  ]);
  expect(found.value).toMatchObject({ files: [{ content: 'AAAA', name: 'a' }, { name: 'b' }, 7, { content: 'AAAA' }] });
});

test('refuses invalid base64, and does not keep the invalid text', () => {
  const found = readBody(
    { files: [{ content: '§'.repeat(2_000) }, { content: '' }, { content: 5 }] },
    { ...rules, maxOtherBytes: 1e6 },
  );
  expect(found).toMatchObject({
    files: [undefined, undefined, undefined],
    value: { files: [{ content: '!' }, { content: '' }, { content: 5 }] },
  });
});

test('limits the size of a body without its files, and the number of values', () => {
  expect(readBody({ files: [{ content: 'A'.repeat(4_000) }] }).fault).toBeUndefined();
  expect(readBody({ files: [], other: 'A'.repeat(4_000) })).toEqual({ fault: 'size' });
  expect(readBody(Array.from({ length: 100_001 }, () => 0))).toEqual({ fault: 'nodes' });
});

test('a body is unchanged if no path to files is given', () => {
  const body = { files: [{ content: base64 }] };
  expect(readBody(body, { filesAt: undefined as never, maxOtherBytes: 0 })).toEqual({
    value: body,
    unstorable: undefined,
    files: [],
  });
});

test('a character that Postgres cannot store is also found in a file', () => {
  expect(readBody({ files: [{ content: 'a\0' }] })).toMatchObject({ unstorable: { path: ['files', '0', 'content'] } });
});

test.each(['9007199254740993', '-9007199254740992', '1e21', '1e400', '12345678901234567890.5'])(
  'a number beyond 2^53 - 1 is found at any depth: %s',
  (number) => {
    expect(readJsonBody(Buffer.from(`{"a":[{"b":${number}}]}`), rules)).toMatchObject({
      unstorable: { path: ['a', '0', 'b'], message: expect.stringContaining('text') },
    });
  },
);

test('numbers that JavaScript can represent are accepted', () => {
  expect(readBody([9007199254740991, -9007199254740991, 0.1, 1e-300, 1e15])).toMatchObject({ unstorable: undefined });
});

test('refuses a name that an object has twice, also when only normalization makes it the same', () => {
  const readText = (text: string) => readJsonBody(Buffer.from(text), { maxOtherBytes: 1_000 });
  const refusal = { path: ['data', 'a'], code: 'duplicate_field' };
  expect(readText('{"data":{"a":1,"b":2,"a":1}}')).toMatchObject({ unstorable: refusal });
  expect(readText('{"\u00e9":1,"e\u0301":2}')).toMatchObject({ unstorable: { path: ['\u00e9'] } });
  expect(readText('{"a":{"a":1},"b":[{"a":1},{"a":1}],"__proto__":1}')).toMatchObject({ unstorable: undefined });
});
