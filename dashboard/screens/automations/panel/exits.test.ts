import { expect, it } from 'vitest';
import { exitRowsOf, exitsOf, newExit } from './exits.ts';

it('events that end a run are the same again, with what no form shows, but for what was changed', () => {
  const filters = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'event.total', operator: 'greaterThan', value: 1 }] }],
  };
  const stored = [{ eventName: 'order.paid', filters }, { eventName: 'signup', since: 'later' }, { eventName: 'gone' }];
  const rows = exitRowsOf(stored);
  expect(exitsOf(rows)).toEqual(stored);
  const [paid, signup] = rows;
  if (!paid || !signup) throw new Error('rows of both');
  const changed = [
    { ...paid, filters: undefined },
    { ...signup, eventName: ' joined ' },
    { ...newExit(), eventName: 'x' },
  ];
  expect(exitsOf(changed)).toEqual([
    { eventName: 'order.paid' },
    { eventName: 'joined', since: 'later' },
    { eventName: 'x' },
  ]);
});
