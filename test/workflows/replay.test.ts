import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import * as workflows from '../../workflows/registry.ts';

const FOLDER = join(import.meta.dirname, '..', 'histories');
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
const WORKFLOWS = join(import.meta.dirname, '..', '..', 'workflows');
/** The patches in the code of the workflows. */
const patches = readdirSync(WORKFLOWS)
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...readFileSync(join(WORKFLOWS, file), 'utf8').matchAll(/patched\('([\w-]+)'\)/g)])
  .map(([, patch = '']) => patch);

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

interface History {
  events: { activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
}

/** Replays histories with the current workflows. Returns for each file the reason of a mismatch, or undefined. */
async function replayHistories(histories: Map<string, History>): Promise<Map<string, string | undefined>> {
  const given = [...histories].map(([workflowId, history]) => ({ workflowId, history: historyFromJSON(history) }));
  const results = Worker.runReplayHistories({ workflowBundle: { codePath: inject('workflowBundle') } }, given);
  const outcome = new Map<string, string | undefined>();
  for await (const { workflowId, error } of results) outcome.set(workflowId, error?.message);
  return outcome;
}

const readHistory = (file: string): History => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

describe('saved histories of earlier versions of the workflows', () => {
  it('all replay with the current code, so running workflows continue', async () => {
    const outcome = await replayHistories(new Map(files.map((file) => [file, readHistory(file)])));
    expect(outcome).toEqual(new Map(files.map((file) => [file, undefined])));
  });

  it('fail the check if they cannot continue', async () => {
    const history = readHistory('contactExecution-seven-steps.json');
    const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes);
    if (scheduled?.activityTaskScheduledEventAttributes) {
      scheduled.activityTaskScheduledEventAttributes.activityType.name = 'somethingElse';
    }
    const outcome = await replayHistories(new Map([['changed', history]]));
    expect(outcome.get('changed')).toContain('Nondeterminism');
  });

  it('include every type of workflow', () => {
    const kept = new Set(files.map((file) => file.split('-')[0]));
    expect([...kept].sort()).toEqual(Object.keys(workflows).sort());
  });

  it.each(patches)('execute the patch %s', (patch) => {
    const marker = Buffer.from(JSON.stringify({ id: patch, deprecated: false })).toString('base64');
    expect(files.filter((file) => readFileSync(join(FOLDER, file), 'utf8').includes(marker))).not.toEqual([]);
  });

  it('contain no name of the machine on which they ran', () => {
    const named = files.filter((file) =>
      /"(?:[0-9a-f]{8}\/)?\d+@[^"]+"/.test(readFileSync(join(FOLDER, file), 'utf8')),
    );
    expect(named).toEqual([]);
  });

  it('contain no address, only ids and cursors', () => {
    for (const file of files) {
      const payloads = [...readFileSync(join(FOLDER, file), 'utf8').matchAll(/"data": "([A-Za-z0-9+/=]+)"/g)];
      const texts = payloads.map(([, base64]) => Buffer.from(base64 ?? '', 'base64').toString());
      expect(texts.filter((text) => text.includes('@'))).toEqual([]);
    }
  });
});
