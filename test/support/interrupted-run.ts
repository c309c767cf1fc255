import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findChromium, launchChromium } from './browser/chromium.ts';
import { createTestDatabase } from './database.ts';
import { startWorkerHost } from './host-process.ts';
import { createTestTemporal } from './services.ts';
import { createHomePath, startService } from './start.ts';

/** Starts one process of each kind that tests start, reports it, and waits until it is interrupted. */
it('waits', { timeout: 0 }, async () => {
  const [database, temporal, chromium] = await Promise.all([
    createTestDatabase(),
    createTestTemporal(),
    findChromium(),
  ]);
  if (typeof chromium !== 'string') await launchChromium(chromium);
  await startWorkerHost({ database, temporal });
  // Without TEMPORAL_CLI_PATH, this service would not find Temporal in the user's folder.
  const HOME = mkdtempSync(join(tmpdir(), 'user-'));
  const service = await startService({ home: createHomePath(), env: { HOME } });
  expect(service.output()).not.toContain('Temporal is not on this machine');
  process.stdout.write(`RUNNING in ${tmpdir()}\n`);
  await new Promise(() => {});
});
