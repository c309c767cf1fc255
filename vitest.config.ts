import { defineConfig } from 'vitest/config';

const ROOMS = 'api,domain,compute,db,temporal,workflows,activities,channels,worker,cli,web,bench';

/** Pure rules run without any server; what is in test/ shares one Postgres and one Temporal, started only when needed. */
export default defineConfig({
  test: {
    maxWorkers: 2, // Postgres and Temporal want the other part of the machine.
    projects: [
      {
        test: { name: 'unit', include: [`{${ROOMS}}/**/*.test.ts`], isolate: false },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          isolate: false,
        },
      },
    ],
  },
});
