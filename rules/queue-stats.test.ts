import { describe, expect, it } from 'vitest';
import { formatQueueTable, type QueueStats, toQueueReading } from './queue-stats.ts';
import type { TaskQueue } from './queues.ts';

const AT = new Date('2026-11-29T10:00:00Z');

function createStats(queue: TaskQueue, more: Partial<QueueStats> = {}): QueueStats {
  return { queue, backlog: 0, backlogSeconds: 0, addedPerSecond: 0, dispatchedPerSecond: 0, pollers: 1, ...more };
}

function formatStats(...stats: QueueStats[]): string[] {
  const [first, , , , ...rows] = formatQueueTable(toQueueReading(stats, AT)).split('\n');
  return [first ?? '', ...rows];
}

describe('the table of task queues', () => {
  it('lists queues without a worker first, then queues that are behind, oldest task first, and marks both as bold', () => {
    const behind = { backlog: 120, addedPerSecond: 2.345, dispatchedPerSecond: 1.04 };
    expect(
      formatStats(
        createStats('workflows', { backlog: 1, backlogSeconds: 0.2 }),
        createStats('bulk', { ...behind, backlogSeconds: 44.6 }),
        createStats('paced', { backlog: 3, backlogSeconds: 90 }),
        createStats('webhooks', { pollers: 0 }),
      ),
    ).toEqual([
      'Task queues at 2026-11-29T10:00:00.000Z: 1 without a worker, 2 behind.',
      '| **webhooks** | **0** | **–** | **0** | **0** | **0** |',
      '| **paced** | **3** | **90 s** | **1** | **0** | **0** |',
      '| **bulk** | **120** | **45 s** | **1** | **2.3** | **1** |',
      '| workflows | 1 | 0 s | 1 | 0 | 0 |',
    ]);
  });

  it('says that no queue is behind', () => {
    expect(formatStats(createStats('bulk'))).toEqual([
      'Task queues at 2026-11-29T10:00:00.000Z: none is behind.',
      '| bulk | 0 | – | 1 | 0 | 0 |',
    ]);
  });
});
