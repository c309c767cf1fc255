import { expect, it } from 'vitest';
import { summarizeHealth } from './states.ts';

type Health = Parameters<typeof summarizeHealth>[0];

const WORKER = { kind: 'worker', alive: true, build: 'a' };
const HEALTHY = {
  postgres: { connections: 10, maxConnections: 100, longestTransactionSeconds: 1 },
  temporal: { reached: true, queues: [{ pollers: 1 }] },
  outbox: [{ oldestSeconds: 1, failing: 0 }],
  periodicWork: [{ late: false, failing: [], backlog: 0 }],
  processes: [WORKER],
};
const summarize = (changes: object) => summarizeHealth({ ...HEALTHY, ...changes } as unknown as Health);

it('an installation is healthy if all its parts are', () => {
  expect(summarize({})).toEqual({ state: 'healthy', parts: [] });
});

it.each([
  ['connections run out', { postgres: { ...HEALTHY.postgres, connections: 90 } }, 'attention', ['postgres']],
  ['Temporal is away', { temporal: { reached: false, queues: [] } }, 'unreachable', ['temporal']],
  ['a queue has no worker', { temporal: { reached: true, queues: [{ pollers: 0 }] } }, 'attention', ['temporal']],
  ['accepted work is old', { outbox: [{ oldestSeconds: 31, failing: 0 }] }, 'attention', ['outbox']],
  ['periodic work is late', { periodicWork: [{ late: true, failing: [], backlog: 0 }] }, 'attention', ['periodicWork']],
  ['no worker reports', { processes: [{ ...WORKER, kind: 'api' }] }, 'unreachable', ['processes']],
  ['builds differ', { processes: [WORKER, { ...WORKER, build: 'b' }] }, 'attention', ['processes']],
  [
    'two parts need attention',
    { temporal: { reached: false, queues: [] }, outbox: [{ oldestSeconds: 1, failing: 1 }] },
    'unreachable',
    ['temporal', 'outbox'],
  ],
] as const)('an installation needs attention if %s', (_, changes, state, parts) => {
  expect(summarize(changes)).toEqual({ state, parts });
});
