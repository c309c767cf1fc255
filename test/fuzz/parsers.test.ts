import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PARSERS } from './parsers.ts';

/**
 * The number of inputs takes a few seconds in all. `npm run fuzz` runs for minutes from a seed, with limits on time and
 * memory.
 */
const RUNS = 150;

describe('the parsers of untrusted input', () => {
  it.each(PARSERS)('$name accept or refuse any input, and throw no other error', async ({ inputs, run, refuses }) => {
    const property = fc.asyncProperty(inputs, async (input) => {
      try {
        await run(input as never);
      } catch (error) {
        if (!refuses(error)) throw error;
      }
    });
    const details = await fc.check(property, { numRuns: RUNS });
    expect(details.failed, fc.defaultReportMessage(details) ?? '').toBe(false);
  });
});
