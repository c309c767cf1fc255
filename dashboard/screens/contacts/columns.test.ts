import { describe, expect, it } from 'vitest';
import { cellText, FIRST_COLUMNS, readColumns, withColumn } from './columns.ts';

describe('columns of the list', () => {
  it('are the stored ones, or the default ones if no stored one is valid', () => {
    expect(readColumns('["data.plan"]')).toEqual(['data.plan']);
    expect(readColumns('[]')).toEqual([]);
    for (const kept of [null, '', '{', '5', '{}']) expect(readColumns(kept)).toEqual(FIRST_COLUMNS);
    expect(readColumns('[1,"createdAt",null]')).toEqual(['createdAt']);
  });

  it('are added and removed one by one, and a ninth replaces the oldest', () => {
    expect(withColumn(['a'], 'b', true)).toEqual(['a', 'b']);
    expect(withColumn(['a', 'b'], 'a', false)).toEqual(['b']);
    expect(withColumn([...'abcdefgh'], 'i', true)).toEqual([...'bcdefghi']);
  });

  it('show any value as one line', () => {
    expect([cellText('x'), cellText(null), cellText(undefined), cellText(5), cellText(false), cellText(['a'])]).toEqual(
      [...['x', '', '', '5', 'false', '["a"]']],
    );
  });
});
