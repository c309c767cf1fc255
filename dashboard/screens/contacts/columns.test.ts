import { describe, expect, it } from 'vitest';
import { DEFAULT_COLUMNS, formatCell, readColumns, withColumn } from './columns.ts';

describe('columns of the list', () => {
  it('are the stored ones, or the default ones if no stored one is valid', () => {
    expect(readColumns('["data.plan"]')).toEqual(['data.plan']);
    expect(readColumns('[]')).toEqual([]);
    for (const stored of [null, '', '{', '5', '{}']) expect(readColumns(stored)).toEqual(DEFAULT_COLUMNS);
    expect(readColumns('[1,"createdAt",null]')).toEqual(['createdAt']);
  });

  it('are added and removed one by one, and a ninth replaces the oldest', () => {
    expect(withColumn(['a'], 'b', true)).toEqual(['a', 'b']);
    expect(withColumn(['a', 'b'], 'a', false)).toEqual(['b']);
    expect(withColumn([...'abcdefgh'], 'i', true)).toEqual([...'bcdefghi']);
  });

  it('show any value as one line', () => {
    expect([
      formatCell('x'),
      formatCell(null),
      formatCell(undefined),
      formatCell(5),
      formatCell(false),
      formatCell(['a']),
    ]).toEqual([...['x', '', '', '5', 'false', '["a"]']]);
  });
});
