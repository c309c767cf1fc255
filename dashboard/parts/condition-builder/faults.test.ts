import { expect, it } from 'vitest';
import { type DraftCondition, newFilter } from './draft.ts';
import { mapFaultsToRows } from './faults.ts';

const inner: DraftCondition = { logic: 'AND', groups: [{ key: 'g2', filters: [{ ...newFilter(), key: 'deep' }] }] };
const sent: DraftCondition = {
  logic: 'OR',
  groups: [
    { key: 'g0', filters: [{ ...newFilter(), key: 'first' }] },
    { key: 'g1', filters: [{ ...newFilter(), key: 'second' }], nested: inner },
  ],
};

it('puts errors at the row and the part that they name, at every depth', () => {
  const { rows, other } = mapFaultsToRows(
    sent,
    [
      { field: 'filters.groups.0.filters.0.operator', message: 'one' },
      { field: 'filters.groups.1.conditions.groups.0.filters.0.value', message: 'two' },
      { field: 'filters.groups.1.filters.0.value.3', message: 'three' },
      { field: 'filters.groups.1.filters.0', message: 'four' },
    ],
    'filters',
  );
  expect(rows.get('first')).toEqual([{ part: 'operator', message: 'one' }]);
  expect(rows.get('deep')).toEqual([{ part: 'value', message: 'two' }]);
  expect(rows.get('second')).toEqual([
    { part: 'value', message: 'three' },
    { part: 'field', message: 'four' },
  ]);
  expect(other).toEqual([]);
});

it('separates errors that belong to no row', () => {
  const faults = [
    { field: 'name', message: 'taken' },
    { field: 'filters', message: 'no such segment' },
    { field: 'condition.groups.0.filters.0.value', message: 'of another condition' },
    { field: 'filters.groups.7.filters.0.value', message: 'of a row that is gone' },
  ];
  expect(mapFaultsToRows(sent, faults, 'filters')).toEqual({ rows: new Map(), other: faults });
});
