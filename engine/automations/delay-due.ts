import type { GraphStep } from '../../db/workflows/graph.ts';
import { interpolate } from '../../rules/content/interpolate.ts';
import { MIN_CYCLE_WAIT_MS } from '../../rules/executions/loop-guard.ts';
import { type DelaySpan, delayMs, isDelayInDays, isTimeOfDay } from '../../rules/executions/steps/delay.ts';
import { readIsoDate } from '../../rules/time/iso-date.ts';
import { findNextTime, toInstant, toWallTime } from '../../rules/time/local-time.ts';
import { ALL_DAYS } from '../../rules/time/sending-window.ts';
import { toCanonicalZone } from '../../rules/time/zones.ts';
import type { ExecutionEnvironment } from './environment.ts';
import type { WalkingExecution } from './walk.ts';

/** The stored config of a DELAY, which was checked when it was saved. */
interface StoredDelay extends DelaySpan {
  until?: unknown;
  days?: number[];
  timezone?: string;
}

/**
 * Computes when a DELAY ends. Returns null if its `until` is not a date or time. Source: contract §7.14 DELAY. Days and
 * weeks end at the same local time even when daylight saving time changes in between; shorter units are exact. A time
 * of day, a date-time without an offset and a number of days use the time zone of the step. If the step names no zone,
 * they use the contact's zone. If the contact has no zone either, they use the project's zone.
 * A time of day occurs once a day, so a cycle passes a DELAY until a time of day at most once a day. The time may be
 * only seconds away at the first visit, so `countsMs` is at least the minimum wait of a cycle (`MIN_CYCLE_WAIT_MS`).
 * The loop guard counts `countsMs` instead of the actual length.
 */
export async function computeDelayEnd(
  environment: ExecutionEnvironment,
  p: { step: GraphStep; execution: WalkingExecution; nowMs: number },
): Promise<{ dueAt: Date; countsMs?: number } | null> {
  const { step, execution, nowMs } = p;
  const config = step.config as unknown as StoredDelay;
  const zone = async () => toCanonicalZone(config.timezone) ?? (await findContactZone(environment, execution));
  if (typeof config.until !== 'string') {
    if (!isDelayInDays(config)) return { dueAt: new Date(nowMs + delayMs(config)) };
    const inZone = await zone();
    return { dueAt: new Date(toInstant(inZone, toWallTime(inZone, nowMs) + delayMs(config))) };
  }
  const until = await fillVariablesInUntil(environment, execution, config.until);
  if (!isTimeOfDay(until)) {
    const at = (await readInstant(until, zone)) ?? readOlderForm(config.until);
    return at === undefined ? null : { dueAt: new Date(at) };
  }
  const dueMs = findNextTime(await zone(), { hour: until, days: config.days ?? ALL_DAYS, afterMs: nowMs });
  return { dueAt: new Date(dueMs), countsMs: Math.max(MIN_CYCLE_WAIT_MS, dueMs - nowMs) };
}

/** Reads an ISO 8601 date or date-time. Uses the zone only if the text has no offset. A date alone means midnight. */
async function readInstant(text: string, zone: () => Promise<string>): Promise<number | undefined> {
  const date = readIsoDate(text.trim());
  if (!date) return undefined;
  return date.offsetMs === undefined ? toInstant(await zone(), date.wall) : date.wall - date.offsetMs;
}

/**
 * Reads a stored `until` that is not ISO 8601, so that steps saved before ISO 8601 was required still run. Returns
 * undefined for an `until` with a variable: the variable's value must be ISO 8601.
 */
function readOlderForm(until: string): number | undefined {
  const at = until.includes('{{') ? Number.NaN : Date.parse(until);
  return Number.isNaN(at) ? undefined : at;
}

async function fillVariablesInUntil(
  environment: ExecutionEnvironment,
  execution: WalkingExecution,
  until: string,
): Promise<string> {
  if (!until.includes('{{')) return until;
  const { variables } = await environment.loadVariables(execution);
  return interpolate(until, variables, { untrusted: 'keep' }).trim();
}

async function findContactZone(environment: ExecutionEnvironment, execution: WalkingExecution): Promise<string> {
  const { zone, projectZone } = await environment.getTiming(execution);
  return toCanonicalZone(zone) ?? toCanonicalZone(projectZone) ?? 'UTC';
}
