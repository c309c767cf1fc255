import { expect, it } from 'vitest';
import { verdictOf } from './states.ts';

type Health = Parameters<typeof verdictOf>[0];

const WORKER = { kind: 'worker', alive: true, build: 'a' };
const HEALTHY = {
  postgres: { connections: 10, maxConnections: 100, longestTransactionSeconds: 1 },
  temporal: { reached: true, queues: [{ pollers: 1 }] },
  outbox: [{ oldestSeconds: 1, failing: 0 }],
  periodicWork: [{ late: false, failing: [], backlog: 0 }],
  processes: [WORKER],
};
const verdict = (changes: object) => verdictOf({ ...HEALTHY, ...changes } as unknown as Health);

it('an installation is healthy if all its parts are', () => {
  expect(verdict({})).toEqual({ state: 'well', parts: [] });
});

it.each([
  ['connections run out', { postgres: { ...HEALTHY.postgres, connections: 90 } }, 'look', ['postgres']],
  ['Temporal is away', { temporal: { reached: false, queues: [] } }, 'away', ['temporal']],
  ['a queue has no worker', { temporal: { reached: true, queues: [{ pollers: 0 }] } }, 'look', ['temporal']],
  ['accepted work is old', { outbox: [{ oldestSeconds: 31, failing: 0 }] }, 'look', ['outbox']],
  ['periodic work is late', { periodicWork: [{ late: true, failing: [], backlog: 0 }] }, 'look', ['periodicWork']],
  ['no worker reports', { processes: [{ ...WORKER, kind: 'api' }] }, 'away', ['processes']],
  ['builds differ', { processes: [WORKER, { ...WORKER, build: 'b' }] }, 'look', ['processes']],
  [
    'two parts need attention',
    { temporal: { reached: false, queues: [] }, outbox: [{ oldestSeconds: 1, failing: 1 }] },
    'away',
    ['temporal', 'outbox'],
  ],
] as const)('an installation needs attention if %s', (_, changes, state, parts) => {
  expect(verdict(changes)).toEqual({ state, parts });
});
