import { defineConfig } from 'vitest/config';

/** A separate test run for `test/durability/interrupted-run.test.ts`. */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../..`,
    include: ['test/support/interrupted-run.ts'],
    globalSetup: ['test/support/global-setup.ts'],
  },
});
