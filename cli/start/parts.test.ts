import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DRAIN_MS } from '../../api/http/server.ts';
import { createParts, type SupervisedParts } from './parts.ts';

const KINDS = ['postgres', 'temporal', 'worker', 'api'] as const;
type Kind = (typeof KINDS)[number];

let parts: SupervisedParts;
/** The parts that must stop, in order, with the time that each part gets. */
let stops: { kind: Kind; graceMs: number }[];
let end: Record<Kind, () => void>;
let killedAt: Record<Kind, number>;

beforeEach(async () => {
  vi.useFakeTimers();
  parts = createParts();
  stops = [];
  killedAt = { postgres: 0, temporal: 0, worker: 0, api: 0 };
  end = { postgres: () => {}, temporal: () => {}, worker: () => {}, api: () => {} };
  for (const kind of KINDS) {
    const ended = new Promise<string>((resolve) => {
      end[kind] = () => resolve('exit code 0');
    });
    const stop = async (graceMs = 0) => {
      stops.push({ kind, graceMs });
      const kill = setTimeout(() => {
        killedAt[kind] = Date.now();
        end[kind]();
      }, graceMs);
      await ended;
      clearTimeout(kill);
    };
    const running = { identity: { pid: 1, startedAt: '' }, ended, stop, kill: () => {} };
    await parts.add(kind, { name: kind, start: async () => running, writeLine: () => {} });
  }
});
afterEach(() => {
  vi.useRealTimers();
});

const listStops = async (afterMs: number) => {
  await vi.advanceTimersByTimeAsync(afterMs);
  return stops.map(({ kind }) => kind);
};

it('stops the API, then the workers, Temporal and Postgres, each after the one before has ended', async () => {
  const stopping = parts.stopAll();
  expect(await listStops(0)).toEqual(['api']);
  end.api();
  expect(await listStops(0)).toEqual(['api', 'worker']);
  end.worker();
  expect(await listStops(0)).toEqual(['api', 'worker', 'temporal']);
  end.temporal();
  expect(await listStops(0)).toEqual(['api', 'worker', 'temporal', 'postgres']);
  end.postgres();
  await stopping;
});

it('lets the API finish long requests while the workers stop', async () => {
  const stopping = parts.stopAll();
  const [api] = stops;
  expect(api?.graceMs).toBeGreaterThan(DRAIN_MS);
  expect(await listStops(3_999)).toEqual(['api']);
  expect(await listStops(1)).toEqual(['api', 'worker']);
  end.worker();
  // The API still needs Temporal and Postgres.
  expect(await listStops(8_000)).toEqual(['api', 'worker']);
  end.api();
  expect(await listStops(0)).toEqual(['api', 'worker', 'temporal']);
  end.temporal();
  end.postgres();
  await stopping;
});

it('stops within 20 s, even if every part has to be killed', async () => {
  const startedAt = Date.now();
  const stopping = parts.stopAll();
  await vi.advanceTimersByTimeAsync(60_000);
  await stopping;
  expect(killedAt.postgres - startedAt).toBeLessThan(20_000);
});
