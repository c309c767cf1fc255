import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const ROOMS = 'api,rules,compute,db,engine,temporal,workflows,activities,channels,worker,cli,web,bench,dashboard';

/**
 * Pure rules run without any server. Tests in test/ share one Postgres and one Temporal, started only when needed.
 * The files of a worker share its modules, because loading them took more processor time than the tests of most
 * files. A test therefore ends everything it starts, restores everything it replaces, and mocks no module.
 */
export default defineConfig({
  test: {
    isolate: false,
    maxWorkers: 3, // Tests wait a third of their time; Postgres and Temporal want the rest of two cores.
    sequence: { sequencer: LongestFirst },
    // All limits are for hangs. A busy machine takes ten times as long as a quiet one, or longer.
    expect: { poll: { timeout: 400_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: [`{${ROOMS}}/**/*.test.ts`], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
