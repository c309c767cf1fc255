import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startSinkProcess } from '../support/smtp/sink-process.ts';

const CONNECTIONS = 5;

it('a killed sender leaves at most one unreported message per connection', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'smtp-kill-'));
  const sink = await startSinkProcess();
  try {
    const log = join(folder, 'results');
    const out = openSync(log, 'w');
    const sender = fileURLToPath(new URL('../support/smtp/smtp-sender.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', sender, sink.url, String(CONNECTIONS)], {
      stdio: ['ignore', out, 'inherit'],
    });
    closeSync(out);
    await expect.poll(async () => (await sink.counts()).messages).toBeGreaterThan(1000);
    child.kill('SIGKILL');
    await once(child, 'exit');

    const known = readFileSync(log, 'utf8').split('\n').slice(0, -1);
    const recipients = await sink.recipients();
    expect(known.every((line) => line.startsWith('accepted '))).toBe(true);
    for (const line of known) delete recipients[line.slice('accepted '.length)];
    expect(Object.keys(recipients).length).toBeLessThanOrEqual(CONNECTIONS);
    expect((await sink.messages()).length - known.length).toBeLessThanOrEqual(CONNECTIONS);
  } finally {
    await sink.stop();
    await rm(folder, { recursive: true });
  }
});
