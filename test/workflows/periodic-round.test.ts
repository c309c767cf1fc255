import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type {
  PartInput,
  PartResult,
  RoundEnd,
  RoundPage,
  RoundPageRequest,
  RoundRequest,
} from '../../rules/periodic-round.ts';
import { TASK_QUEUES } from '../../rules/queues.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';
import { withWorkers } from '../support/with-workers.ts';

type Run = (input: PartInput) => Promise<PartResult>;

/**
 * Simulates the activities of a round with the given parts, page by page. `ended` collects the recorded end of the
 * round.
 */
function createFakeRound(p: { pages: string[][]; lanes: number; run: Run }) {
  const ended: RoundEnd[] = [];
  const run: string[] = [];
  const activities = {
    listPeriodicParts: async ({ round }: RoundPageRequest): Promise<RoundPage> => {
      const index = round ? Number(round.after) : 0;
      const fresh = { since: new Date().toISOString(), start: null, wrapped: false, total: p.pages.flat().length };
      return {
        round: {
          ...(round ?? { ...fresh, done: 0, failed: [], failing: [], late: [], last: ['failed before'] }),
          after: String(index + 1),
        },
        parts: p.pages[index] ?? [],
        isLast: index === p.pages.length - 1,
        lanes: p.lanes,
      };
    },
    runPeriodicPart: async (input: PartInput): Promise<PartResult> => {
      run.push(input.part);
      return p.run(input);
    },
    endPeriodicRound: async (end: RoundEnd): Promise<void> => {
      ended.push(end);
    },
  };
  return { activities, ended, run };
}

async function countRuns(client: Client, workflowId: string): Promise<number> {
  let runs = 0;
  for await (const _ of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs += 1;
  return runs;
}

const DONE: PartResult = { cursor: null, failures: [] };
/** A part that hangs until the worker stops. */
const hangUntilStopped = (): Promise<never> => Context.current().cancelled;

describe('a round of periodic work', () => {
  let temporal: TestTemporal;
  let rounds = 0;
  beforeAll(async () => {
    temporal = await createTestTemporal();
  });

  function runRound(activities: object, request: RoundRequest = {}) {
    rounds += 1;
    const workflowId = `round-${rounds}`;
    return withWorkers(temporal, { taskQueue: TASK_QUEUES.periodic, activities }, async (client) => {
      const options = { taskQueue: TASK_QUEUES.workflows, workflowId, args: [request] };
      const result = await client.workflow.execute('segmentsRound', options);
      const runs = await until(async () => {
        const listed = await countRuns(client, workflowId);
        return listed > 0 && listed;
      }, 'the runs to be listed');
      return { result, runs };
    });
  }

  it('runs all parts, names failed ones, and runs parts that failed in the previous round last', async () => {
    const round = createFakeRound({
      pages: [['a', 'b', 'c']],
      lanes: 1,
      run: async ({ part }) => (part === 'b' ? { cursor: null, failures: ['segment of b'] } : DONE),
    });
    const { result } = await runRound(round.activities);
    expect(round.run).toEqual(['a', 'b', 'c', 'failed before']);
    expect(result).toEqual({ done: 4, unfinished: 0, failed: ['b: segment of b'] });
    expect(round.ended).toMatchObject([{ failing: [], late: [], unfinished: 0, resumeAfter: null }]);
  });

  it('continues a part from its cursor after the waiting parts', async () => {
    const cursors: (string | null)[] = [];
    const round = createFakeRound({
      pages: [['long', 'short']],
      lanes: 1,
      run: async ({ part, cursor }) => {
        if (part !== 'long') return DONE;
        cursors.push(cursor);
        return cursor === 'half' ? DONE : { cursor: 'half', failures: [] };
      },
    });
    await runRound(round.activities);
    expect(round.run).toEqual(['long', 'short', 'failed before', 'long']);
    expect(cursors).toEqual([null, 'half']);
  });

  it('stops a hanging part at the deadline of the round, and records the part after which the next round continues', async () => {
    const round = createFakeRound({
      pages: [['a', 'hangs', 'never begun']],
      lanes: 1,
      run: async ({ part }) => (part === 'hangs' ? hangUntilStopped() : DONE),
    });
    const { result } = await runRound(round.activities, { deadlineMs: Date.now() + 6_000 });
    expect(result).toEqual({ done: 1, unfinished: 2, failed: ['hangs'] });
    expect(round.ended).toMatchObject([{ late: ['hangs'], unfinished: 2, resumeAfter: 'hangs' }]);
  });

  it('records the last part that started, even if an earlier part has continued since then', async () => {
    let hangs = false;
    const { activities, ended } = createFakeRound({
      pages: [['a', 'b', 'c']],
      lanes: 1,
      run: async ({ part, cursor }) => {
        if (cursor === null) return part === 'c' ? DONE : { cursor: 'next', failures: [] };
        hangs = true;
        return hangUntilStopped();
      },
    });
    await runRound(activities, { deadlineMs: Date.now() + 10_000 });
    expect(hangs).toBe(true);
    expect(ended[0]?.resumeAfter).toBe('c');
  });

  it('runs each page in a separate run, and repeats a hanging part at the end', async () => {
    const round = createFakeRound({
      pages: [['a', 'hangs at first', 'b'], ['c', 'd'], ['e']],
      lanes: 2,
      run: async ({ part }) =>
        part === 'hangs at first' && round.run.filter((name) => name === part).length === 1 ? hangUntilStopped() : DONE,
    });
    const { result, runs } = await runRound(round.activities);
    expect(runs).toBeGreaterThan(1);
    expect(round.run.slice(0, 5).sort()).toEqual(['a', 'b', 'c', 'd', 'hangs at first']);
    expect(round.run.slice(5).sort()).toEqual(['e', 'failed before', 'hangs at first']);
    expect(result).toEqual({ done: 7, unfinished: 0, failed: [] });
  });
});
