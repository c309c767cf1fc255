import { describe, expect, it } from 'vitest';
import { findHeaderFaults, newHeader, toHeaderRows, toHeaders } from './headers.ts';

describe('the headers of a webhook as rows', () => {
  it('are the same headers again, masked secrets among them', () => {
    const stored = { Authorization: 'Bear••••', 'X-Team': 'growth' };
    const rows = toHeaderRows(stored) ?? [];
    expect(rows.map(({ name, value, storedName }) => [name, value, storedName])).toEqual([
      ['Authorization', 'Bear••••', 'Authorization'],
      ['X-Team', 'growth', undefined],
    ]);
    expect(toHeaders(rows)).toEqual(stored);
    expect(toHeaders([newHeader()])).toBeUndefined();
    expect(toHeaderRows(undefined)).toEqual([]);
  });

  it('are not shown as rows if they are not names with strings', () => {
    for (const stored of ['x', [], { a: 1 }, { a: null }]) expect(toHeaderRows(stored)).toBeUndefined();
  });

  it('have an error for each invalid row', () => {
    const row = (name: string, value = 'v', storedName?: string) => ({
      ...newHeader(),
      name,
      value,
      ...(storedName && { storedName }),
    });
    const rows = [row('A'), row('a'), row('two words'), row(''), row('', ''), row('New', '••••', 'Old')];
    const faults = findHeaderFaults(rows);
    expect(rows.map(({ key }) => faults.get(key))).toEqual([
      undefined,
      'twice',
      'name',
      'unnamed',
      undefined,
      'renamed',
    ]);
  });
});
