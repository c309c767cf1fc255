import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OutboxKind, OutboxRow } from '../domain/outbox.ts';
import { createDispatchQueue, splitIntoGroups } from './dispatch-queue.ts';

let made = 0;
const rows = (count: number, kind: OutboxKind = 'email.deliver', projectId = 'p1'): OutboxRow[] =>
  Array.from({ length: count }, () => {
    made += 1;
    return { id: `row-${made}`, projectId, kind, refId: `ref-${made}`, payload: {} };
  });

/** A queue that notes the sizes of what it starts, by project; starts take no time. */
function noted() {
  const started: string[] = [];
  const queue = createDispatchQueue(async (group) => {
    started.push(`${group[0]?.projectId} ${group.length}`);
  });
  return { queue, started };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the dispatch queue', () => {
  it('starts a lone mail at once', () => {
    const { queue, started } = noted();
    queue.add(rows(1));
    expect(started).toEqual(['p1 1']);
  });

  it('starts what comes within the interval together, and lets no other project wait for it', async () => {
    const { queue, started } = noted();
    queue.add(rows(1));
    for (let n = 0; n < 30; n += 1) queue.add(rows(1));
    queue.add(rows(1, 'email.deliver', 'p2'));
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['p1 1', 'p2 1']);
    await vi.advanceTimersByTimeAsync(50);
    expect(started).toEqual(['p1 1', 'p2 1', 'p1 30']);
  });

  it('does not keep a full group waiting', async () => {
    const { queue, started } = noted();
    queue.add(rows(1));
    queue.add(rows(450));
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['p1 1', 'p1 200', 'p1 200']);
    await vi.advanceTimersByTimeAsync(50);
    expect(started.at(-1)).toBe('p1 50');
  });

  it('starts executions one by one, without a wait', () => {
    const { queue, started } = noted();
    queue.add(rows(3, 'execution.start'));
    expect(started).toEqual(['p1 1', 'p1 1', 'p1 1']);
  });

  it('leaves what is queued to the relay when it closes', async () => {
    const { queue, started } = noted();
    queue.add(rows(1));
    queue.add(rows(5));
    await queue.close();
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toEqual(['p1 1']);
  });
});

describe('splitIntoGroups', () => {
  it('keeps projects apart and groups to their size', () => {
    const groups = splitIntoGroups([...rows(201), ...rows(2, 'email.deliver', 'p2'), ...rows(2, 'job.start')]);
    expect(groups.map((group) => group.length)).toEqual([200, 1, 2, 1, 1]);
  });
});
