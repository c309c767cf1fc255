import { expect, it } from 'vitest';
import { exitRowsOf, exitsOf, newExit } from './exits.ts';

it('keeps events that end a run, with parts that no form shows, except for the change', () => {
  const filters = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'event.total', operator: 'greaterThan', value: 1 }] }],
  };
  const stored = [
    { eventName: 'order.paid', filters },
    { eventName: 'signup', since: 'later' },
    { eventName: 'gone', includeAutomatic: true },
  ];
  const rows = exitRowsOf(stored);
  expect(exitsOf(rows)).toEqual(stored);
  const [paid, signup, gone] = rows;
  if (!paid || !signup || !gone) throw new Error('rows of all');
  const changed = [
    { ...paid, filters: undefined },
    { ...signup, eventName: ' joined ' },
    { ...gone, includeAutomatic: false },
    { ...newExit(), eventName: 'x', includeAutomatic: true },
  ];
  expect(exitsOf(changed)).toEqual([
    { eventName: 'order.paid' },
    { eventName: 'joined', since: 'later' },
    { eventName: 'gone' },
    { eventName: 'x', includeAutomatic: true },
  ]);
});
