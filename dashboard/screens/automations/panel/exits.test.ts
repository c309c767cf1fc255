import { expect, it } from 'vitest';
import { newExit, toExitRows, toExits } from './exits.ts';

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
  const rows = toExitRows(stored);
  expect(toExits(rows)).toEqual(stored);
  const [paid, signup, gone] = rows;
  if (!paid || !signup || !gone) throw new Error('an exit has no row');
  const changed = [
    { ...paid, filters: undefined },
    { ...signup, eventName: ' joined ' },
    { ...gone, includeAutomatic: false },
    { ...newExit(), eventName: 'x', includeAutomatic: true },
  ];
  expect(toExits(changed)).toEqual([
    { eventName: 'order.paid' },
    { eventName: 'joined', since: 'later' },
    { eventName: 'gone' },
    { eventName: 'x', includeAutomatic: true },
  ]);
});
