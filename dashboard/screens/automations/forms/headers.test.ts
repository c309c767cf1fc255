import { describe, expect, it } from 'vitest';
import { headerFaults, headersIn, headersOf, newHeader } from './headers.ts';

describe('the headers of a webhook as rows', () => {
  it('are the same headers again, masked secrets among them', () => {
    const stored = { Authorization: 'Bear••••', 'X-Team': 'growth' };
    const rows = headersIn(stored) ?? [];
    expect(rows.map(({ name, value, kept }) => [name, value, kept])).toEqual([
      ['Authorization', 'Bear••••', 'Authorization'],
      ['X-Team', 'growth', undefined],
    ]);
    expect(headersOf(rows)).toEqual(stored);
    expect(headersOf([newHeader()])).toBeUndefined();
    expect(headersIn(undefined)).toEqual([]);
  });

  it('are not shown as rows if they are not names with strings', () => {
    for (const stored of ['x', [], { a: 1 }, { a: null }]) expect(headersIn(stored)).toBeUndefined();
  });

  it('have an error for each invalid row', () => {
    const row = (name: string, value = 'v', kept?: string) => ({ ...newHeader(), name, value, ...(kept && { kept }) });
    const rows = [row('A'), row('a'), row('two words'), row(''), row('', ''), row('New', '••••', 'Old')];
    const faults = headerFaults(rows);
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
