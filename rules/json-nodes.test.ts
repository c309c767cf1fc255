import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countMembers, findRepeatedName } from './json-nodes.ts';

const exceedsMax = (text: string, max: number) => countMembers(Buffer.from(text), max) === undefined;

/**
 * Counts from the parsed value the characters that `countMembers` counts in the text. These are commas between members,
 * a colon for each member of an object, and an opening bracket for each container.
 */
function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Array.isArray(value) ? value : Object.values(value);
  const colons = Array.isArray(value) ? 0 : members.length;
  return (
    1 + Math.max(0, members.length - 1) + colons + members.reduce((sum: number, each) => sum + countNodes(each), 0)
  );
}

describe('the number of values in a JSON text', () => {
  it('counts the values, whatever their strings contain', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const nodes = countNodes(JSON.parse(text));
        return !exceedsMax(text, nodes) && (nodes === 0 || exceedsMax(text, nodes - 1));
      }),
    );
  });

  it('ignores commas and brackets inside long strings and escapes', () => {
    const long = JSON.stringify({ a: `${'x'.repeat(300)}"[[[,,,\\"${'y'.repeat(600)}\\`, b: ['\\"', ',,,'] });
    expect([exceedsMax(long, 6), exceedsMax(long, 5)]).toEqual([false, true]);
  });

  it('is also counted for unterminated strings and adjacent strings', () => {
    expect(exceedsMax('""'.repeat(12), 10)).toBe(true);
    expect(exceedsMax(`"${'\\"'.repeat(1_000)}`, 10)).toBe(false);
    expect(exceedsMax('"\\', 10)).toBe(false);
  });
});

describe('a name that an object has twice', () => {
  const findRepeated = (text: string) => findRepeatedName(Buffer.from(text));

  it.each([
    ['{"to":"a","to":"b"}', ['to']],
    ['{"a":[{"x":1},{"x":1,"y":{"z":1,"z" : 2}}]}', ['a', '1', 'y', 'z']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"\u00e9":1,"e\u0301":2}', ['\u00e9']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['[[1,2],[{"":1,"":2}]]', ['1', '0', '']],
  ])('is found in %s', (text, path) => expect(findRepeated(text)).toEqual(path));

  it('is never found in output of JSON.stringify, whose members are all counted', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value) ?? 'null';
        const countObjectMembers = (text: unknown): number =>
          typeof text !== 'object' || text === null
            ? 0
            : Object.values(text).reduce(
                (sum: number, each) => sum + countObjectMembers(each),
                Array.isArray(text) ? 0 : Object.keys(text).length,
              );
        return (
          countMembers(Buffer.from(text)) === countObjectMembers(JSON.parse(text)) &&
          (text !== text.normalize('NFC') || findRepeated(text) === undefined)
        );
      }),
    );
  });
});
