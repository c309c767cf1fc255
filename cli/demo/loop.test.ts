import { expect, it } from 'vitest';
import { type Loop, printSummary, runLoops } from './loop.ts';
import { createReport } from './report.ts';

function createTextReport() {
  let text = '';
  const write = (chunk: string): boolean => {
    text += chunk;
    return true;
  };
  return { report: createReport({ write }), text: () => text };
}

const closed: Loop<unknown> = { title: 'One', close: async () => 'status DELIVERED' };
const open: Loop<unknown> = { title: 'Two', close: () => Promise.reject(new Error('the bounce did not come')) };

it('reports an open loop in the summary, and runs the other loops', async () => {
  const { report, text } = createTextReport();
  const results = await runLoops({ report }, [open, closed]);
  expect(results.map((result) => result.closed)).toEqual([false, true]);
  expect(printSummary(report, results)).toBe(false);
  expect(text()).toContain('   NOT CLOSED Two: the bounce did not come\n   closed     One: status DELIVERED\n');
  expect(text()).toMatch(/\n1 of 2 loops are NOT CLOSED\.\n$/);
});

it('reports that all loops are closed if each is closed', async () => {
  const { report, text } = createTextReport();
  expect(printSummary(report, await runLoops({ report }, [closed]))).toBe(true);
  expect(text()).toMatch(/\nAll 1 loops are closed\.\n$/);
});
