import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { RestartedProcess, SoakStage } from './stage.ts';

/** The number of failures by kind. */
export type FaultCounts = Map<string, number>;

export interface FaultInjector {
  readonly counts: FaultCounts;
  /** Stops causing failures, and ends running failures, such as a slow server. */
  stop(): Promise<void>;
}

/** Seconds between the starts of two failures, which may overlap. */
const PAUSE_SECONDS = [2, 6] as const;
/** How long a server stays slow, in seconds. */
const SLOW_SECONDS = [1, 4] as const;
const TEMPORAL_AWAY_SECONDS = 20;

/** Causes failures of every kind in a random order. Calls `afterKill` after it has killed a process. */
export function startFaults(
  stage: SoakStage,
  random: Random,
  afterKill: (process: RestartedProcess) => Promise<void>,
): FaultInjector {
  const counts: FaultCounts = new Map();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // Each pause adds a listener.
  const active = new Set<Promise<unknown>>();
  const pause = (seconds: number) => sleep(seconds * 1_000, undefined, { signal: stopping.signal }).catch(() => {});
  const during = async (begin: () => void, end: () => void, seconds = random.between(...SLOW_SECONDS)) => {
    begin();
    await pause(seconds);
    end();
  };
  const kill = async (process: RestartedProcess) => {
    if (await process.kill()) await afterKill(process);
  };
  const { postgres, temporal, relay, commits, replies, twilio } = stage;
  const slowDown = (proxy: SoakStage['postgres'], most: number) => {
    const ms = random.between(20, most);
    return during(
      () => proxy.setDelay(ms),
      () => proxy.setDelay(0),
    );
  };
  const takeDown = (proxy: SoakStage['postgres'], seconds: number) =>
    during(
      () => proxy.setDown(true),
      () => proxy.setDown(false),
      seconds,
    );
  const kinds: [name: string, weight: number, begin: () => Promise<unknown> | unknown][] = [
    ['postgres: response of a COMMIT dropped', 5, () => commits.arm(random.whole(1, 3))],
    ['postgres: all connections cut', 2, () => postgres.cutConnections()],
    ['postgres: slow', 2, () => slowDown(postgres, 150)],
    ['postgres: away', 1, () => takeDown(postgres, random.between(1, 4))],
    ['temporal: all connections cut', 2, () => temporal.cutConnections()],
    ['temporal: slow', 2, () => slowDown(temporal, 300)],
    ['temporal: away for 20 s', 1, () => takeDown(temporal, TEMPORAL_AWAY_SECONDS)],
    ['relay: cut after DATA, before the response', 3, () => replies.arm(random.whole(1, 3))],
    ['relay: all connections cut', 1, () => relay.cutConnections()],
    ['relay: slow', 2, () => slowDown(relay, 800)],
    ['relay: refuses', 1, () => takeDown(relay, random.between(1, 4))],
    ['twilio: hangs up', 2, () => stage.hangUpOnce()],
    ['webhook receiver: 500', 1, () => stage.refuseWebhooks(1)],
    ['kill -9 of a worker', 2, () => kill(random.pick(stage.workers as [RestartedProcess, ...RestartedProcess[]]))],
    ['kill -9 of the API', 1, () => kill(stage.api)],
  ];
  const weighted = kinds.flatMap((kind) => Array.from({ length: kind[1] }, () => kind));

  const run = async () => {
    // Each round contains every kind of failure, as often as its weight says.
    while (!stopping.signal.aborted) {
      for (const [name, , begin] of shuffle(weighted, random)) {
        await pause(random.between(...PAUSE_SECONDS));
        if (stopping.signal.aborted) break;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        const work = Promise.resolve(begin()).finally(() => active.delete(work));
        active.add(work);
      }
    }
  };
  const running = run();
  return {
    counts,
    stop: async () => {
      stopping.abort();
      await running;
      await Promise.allSettled(active);
      commits.disarm();
      replies.disarm();
      twilio.next.length = 0;
    },
  };
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.whole(0, left.length - 1), 1));
}
