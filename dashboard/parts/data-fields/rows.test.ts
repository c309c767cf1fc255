import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isComplete, newRow, toData, toDataRows, withName, withText, withType } from './rows.ts';

describe('data as rows', () => {
  it('returns the same data if no row was edited, whatever the values', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (data) => {
        const { data: again, faults } = toData(toDataRows(data));
        expect(faults.size).toBe(0);
        expect(JSON.stringify(again)).toBe(JSON.stringify({ ...data }));
      }),
    );
  });

  it('returns the type of each value, also of a value that is only a variable', () => {
    const data = {
      name: 'Ada',
      n: 4.5,
      is: false,
      day: '2026-01-31',
      total: '{{ event.total }}',
      gone: null,
      tags: ['a', 'b'],
      all: [1],
    };
    expect(toDataRows(data).map(({ name, type, text }) => [name, type, text])).toEqual([
      ['name', 'text', 'Ada'],
      ['n', 'number', '4.5'],
      ['is', 'boolean', 'false'],
      ['day', 'date', '2026-01-31'],
      ['total', 'variable', 'event.total'],
      ['gone', 'nothing', ''],
      ['tags', 'list', '["a","b"]'],
      ['all', 'json', '[1]'],
    ]);
    expect(toDataRows({ greeting: 'Hello {{firstName}}' })[0]?.type).toBe('text');
  });

  it('returns values of the chosen types', () => {
    const rows = [
      withText(newRow('total', 'number'), '12'),
      withText(newRow('vip', 'boolean'), 'false'),
      withText(newRow('plan', 'variable'), 'event.plan'),
      newRow('old', 'nothing'),
      withText(newRow('tags', 'list'), '["a"]'),
      withText(newRow('all', 'json'), '[1]'),
      newRow('note'),
    ];
    const data = { total: 12, vip: false, plan: '{{event.plan}}', old: null, tags: ['a'], all: [1], note: '' };
    expect(toData(rows)).toEqual({ data, faults: new Map() });
  });

  it('names incomplete rows, and omits them', () => {
    const rows = [newRow('n', 'number'), newRow(), newRow('a'), newRow('a'), withText(newRow('j', 'json'), '{')];
    const { data, faults } = toData(rows);
    expect(data).toEqual({ a: '' });
    expect(rows.map(({ key }) => faults.get(key))).toEqual(['number', 'unnamed', undefined, 'twice', 'json']);
    expect(isComplete(rows)).toBe(false);
    expect(isComplete([newRow(), newRow('a')])).toBe(true);
  });

  it('keeps the value of a renamed row, and converts the value of a row with a new type if possible', () => {
    const [row] = toDataRows({ exact: 1.0 });
    if (!row) throw new Error('the data has no row');
    expect(toData([withName(row, 'other')]).data).toEqual({ other: 1 });
    expect(withType(withText(newRow('n'), '40'), 'number').text).toBe('40');
    expect(withType(withText(newRow('n'), 'forty'), 'number').text).toBe('');
    expect(withType(withText(newRow('n'), 'x'), 'boolean').text).toBe('true');
    expect(withType(row, 'text').text).toBe('1');
    expect(withType(withText(newRow('n', 'json'), '["a"]'), 'list').text).toBe('["a"]');
    expect(withType(withText(newRow('n', 'json'), '[1]'), 'list').text).toBe('[]');
  });
});
