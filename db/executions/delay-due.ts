import { interpolate } from '../../rules/content/interpolate.ts';
import { LAP_MS } from '../../rules/executions/laps.ts';
import { delayMs, isHour } from '../../rules/executions/steps/delay.ts';
import { nextHour } from '../../rules/time/local-time.ts';
import { ALL_DAYS } from '../../rules/time/sending-window.ts';
import { zoneOf } from '../../rules/time/zones.ts';
import type { GraphStep } from './graph.ts';
import type { WalkingExecution } from './walk.ts';
import type { World } from './world.ts';

/** What is stored of a DELAY; it was checked when it was saved. */
interface StoredDelay {
  amount: number;
  unit: 'days';
  until?: unknown;
  days?: number[];
  timezone?: string;
}

/**
 * When a DELAY is due to end; null when its `until` does not come to an instant. An hour is that of the zone it names,
 * else of the contact, else of the project. It comes once a day, so it counts with a lap's time at least, however soon
 * it comes the first time.
 */
export async function delayDue(
  world: World,
  p: { step: GraphStep; execution: WalkingExecution; nowMs: number },
): Promise<{ dueAt: Date; countsMs?: number } | null> {
  const { step, execution, nowMs } = p;
  const config = step.config as Partial<StoredDelay>;
  if (typeof config.until !== 'string') return { dueAt: new Date(nowMs + delayMs(config as StoredDelay)) };
  const until = await written(world, execution, config.until);
  if (!isHour(until)) {
    const at = Date.parse(until);
    return Number.isNaN(at) ? null : { dueAt: new Date(at) };
  }
  const zone = zoneOf(config.timezone) ?? (await zoneOfContact(world, execution));
  const dueMs = nextHour(zone, { hour: until, days: config.days ?? ALL_DAYS, afterMs: nowMs });
  return { dueAt: new Date(dueMs), countsMs: Math.max(LAP_MS, dueMs - nowMs) };
}

async function written(world: World, execution: WalkingExecution, until: string): Promise<string> {
  if (!until.includes('{{')) return until;
  const { variables } = await world.loadVariables(execution);
  return interpolate(until, variables, { untrusted: 'keep' }).trim();
}

async function zoneOfContact(world: World, execution: WalkingExecution): Promise<string> {
  const { zone, projectZone } = await world.getClock(execution);
  return zoneOf(zone) ?? zoneOf(projectZone) ?? 'UTC';
}
