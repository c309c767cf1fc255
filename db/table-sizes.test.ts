import { beforeEach, expect, it } from 'vitest';
import { TableSizes } from './table-sizes.ts';

const MIB = 1_048_576;
let sizes: TableSizes;
let nowMs: number;

beforeEach(() => {
  sizes = new TableSizes();
  nowMs = Date.now();
});

/** Tells whether plans are out of date after a check that finds these table sizes, or fails. */
async function outdated(found: Record<string, number> | Error): Promise<boolean> {
  const before = sizes.generation;
  const rows = Object.entries(found).map(([id, bytes]) => ({ id, bytes }));
  const query = () => (found instanceof Error ? Promise.reject(found) : Promise.resolve([{}, { rows }]));
  nowMs += 1_000;
  await sizes.look({ query } as never, nowMs);
  return sizes.generation !== before;
}

it('plans are out of date when a table has doubled or halved since they were made, however slowly', async () => {
  await outdated({ emails: MIB, events: MIB });
  expect(await outdated({ emails: 1.9 * MIB, events: MIB })).toBe(false);
  expect(await outdated({ emails: 2 * MIB, events: MIB })).toBe(true);
  expect(await outdated({ emails: 2 * MIB, events: MIB })).toBe(false);
  expect(await outdated({ emails: MIB, events: MIB })).toBe(true);
});

it('tables of a few pages are all alike, and a new table has plans of its own', async () => {
  await outdated({ emails: 0 });
  expect(await outdated({ emails: 8 * 8192 })).toBe(false);
  expect(await outdated({ emails: 16 * 8192 })).toBe(true);
  expect(await outdated({ emails: 16 * 8192, events: 0 })).toBe(true);
});

it('one caller reads them once a second', async () => {
  await outdated({ emails: MIB });
  let asked = 0;
  const query = async () => {
    asked += 1;
    return [{}, { rows: [] }];
  };
  await Promise.all([1, 2, 3].map(() => sizes.look({ query } as never, nowMs + 1_000)));
  await sizes.look({ query } as never, nowMs + 1_999);
  expect(asked).toBe(1);
});

it('a look that fails changes nothing', async () => {
  await outdated({ emails: MIB });
  expect(await outdated(new Error('the connection broke'))).toBe(false);
});
