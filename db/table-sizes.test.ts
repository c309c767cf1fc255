import { beforeEach, expect, it } from 'vitest';
import { TableSizes } from './table-sizes.ts';

const MIB = 1_048_576;
/** More queries than the table sizes require before they are checked again. */
const QUERIES = 30;
let sizes: TableSizes;
let nowMs: number;

beforeEach(() => {
  sizes = new TableSizes();
  nowMs = Date.now();
});

/** Runs a check that finds these table sizes or fails, and tells whether plans are now outdated. */
async function isOutdated(found: Record<string, number> | Error): Promise<boolean> {
  const before = sizes.generation;
  const rows = Object.entries(found).map(([id, bytes]) => ({ id, bytes }));
  const query = () => (found instanceof Error ? Promise.reject(found) : Promise.resolve([{}, { rows }]));
  nowMs += 1_000;
  for (let n = 0; n < QUERIES; n += 1) await sizes.checkWhenDue({ query } as never, nowMs);
  return sizes.generation !== before;
}

it('plans are outdated when a table has doubled or halved since they were made, even if it happened slowly', async () => {
  await isOutdated({ emails: MIB, events: MIB });
  expect(await isOutdated({ emails: 1.9 * MIB, events: MIB })).toBe(false);
  expect(await isOutdated({ emails: 2 * MIB, events: MIB })).toBe(true);
  expect(await isOutdated({ emails: 2 * MIB, events: MIB })).toBe(false);
  expect(await isOutdated({ emails: MIB, events: MIB })).toBe(true);
});

it('the sizes of tables with a few pages count as equal, and a new table makes plans outdated', async () => {
  await isOutdated({ emails: 0 });
  expect(await isOutdated({ emails: 8 * 8192 })).toBe(false);
  expect(await isOutdated({ emails: 16 * 8192 })).toBe(true);
  expect(await isOutdated({ emails: 16 * 8192, events: 0 })).toBe(true);
});

it('checks at most once a second, and only while the process makes queries', async () => {
  await isOutdated({ emails: MIB });
  let asked = 0;
  const query = async () => {
    asked += 1;
    return [{}, { rows: [] }];
  };
  const checkTimes = (times: number, atMs: number) =>
    Promise.all(Array.from({ length: times }, () => sizes.checkWhenDue({ query } as never, atMs)));
  await checkTimes(QUERIES, nowMs + 1_000);
  await checkTimes(QUERIES, nowMs + 1_999);
  expect(asked).toBe(1);
  await checkTimes(5, nowMs + 60_000);
  expect(asked).toBe(2);
  await checkTimes(5, nowMs + 120_000);
  expect(asked).toBe(2);
});

it('a failed check changes nothing', async () => {
  await isOutdated({ emails: MIB });
  expect(await isOutdated(new Error('the connection broke'))).toBe(false);
});
