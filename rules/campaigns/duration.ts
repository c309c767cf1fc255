import { readLocalTime, toInstant, type WallMs } from '../time/local-time.ts';
import { getUtcOffset, toCanonicalZone } from '../time/zones.ts';
import { type CampaignRecipientTiming, checkCampaignGate } from './gate.ts';
import type { VariantTest } from './variants.ts';

/**
 * The emails per second that the estimate assumes without a send rate: the throughput of one worker that also does
 * other work.
 */
const FULL_SPEED = 1_000;
/**
 * Sending windows repeat weekly. The estimate simulates two weeks, and assumes that every later week is like the second
 * week.
 */
const WEEK_MS = 7 * 86_400_000;
const SIMULATED_MS = 2 * WEEK_MS;
/**
 * The maximum number of decisions (`checkCampaignGate`) per zone. A window that opens and closes daily needs 28 in two
 * weeks.
 */
const GATES_MAX = 40;

/** The number of recipients in one time zone. `zone` is null for recipients who use the project's zone. */
export interface ZoneCount {
  zone: string | null;
  contacts: number;
}

export interface DurationRequest {
  willSend: number;
  /** Emails per second; 0 means no limit. */
  ratePerSecond: number;
  /** The number of recipients per zone. Empty if the send time does not depend on zones. */
  zones: ZoneCount[];
  clock: Omit<CampaignRecipientTiming, 'zone' | 'goingSince' | 'winnerAt'>;
  /** The scheduled start of the campaign; null to start now. */
  scheduledAt: Date | null;
  test: Pick<VariantTest, 'share' | 'waitMinutes'> | null;
  nowMs: number;
}

/**
 * Estimates the seconds from the start of a campaign until its last email is sent, from the send rate, the sending
 * window, the local time of its recipients, and the wait of a test. The start is now, the scheduled time, or the local
 * send time of the first recipients. The estimate includes the time in which the window is closed.
 */
export function estimateSendingSeconds(p: DurationRequest): number {
  const groups = toGroups(p);
  const startMs = findStartMs(p, groups);
  const rate = p.ratePerSecond > 0 ? p.ratePerSecond : FULL_SPEED;
  const { share, waitMinutes } = p.test ?? { share: 1, waitMinutes: 0 };
  const scaleGroups = (of: number) => groups.map((group) => ({ ...group, emails: group.emails * of }));
  const testedMs = findEndMs(p, { groups: scaleGroups(share), rate, startMs, winnerAt: null });
  if (share >= 1) return toSeconds(testedMs - startMs);
  const winnerMs = testedMs + waitMinutes * 60_000;
  const endMs = findEndMs(p, { groups: scaleGroups(1 - share), rate, startMs: winnerMs, winnerAt: new Date(winnerMs) });
  return toSeconds(endMs - startMs);
}

/**
 * Rounds up to whole seconds. A fraction of a millisecond is ignored: it is a rounding error, because the estimate
 * divides emails into fractions.
 */
function toSeconds(ms: number): number {
  return Math.ceil(Math.round(ms) / 1000);
}

/** Recipients with the same local time. `zone` is the time zone of one recipient in the group. */
interface Group {
  zone: string | null;
  emails: number;
}

/**
 * Groups recipients by the current UTC offset of their zone, because about 600 zones have only about 40 offsets. The
 * emails of all groups add up to `willSend`. `willSend` may be less than the sum of the zones, because some counted
 * contacts will be skipped, so each group gets its proportional part.
 */
function toGroups({ willSend, zones, clock, nowMs }: DurationRequest): Group[] {
  const counted = zones.reduce((sum, { contacts }) => sum + contacts, 0);
  if (counted === 0) return [{ zone: null, emails: willSend }];
  const groups = new Map<number, Group>();
  for (const { zone, contacts } of zones) {
    const offset = getUtcOffset(toCanonicalZone(zone) ?? toCanonicalZone(clock.projectZone) ?? 'UTC', nowMs);
    const group = groups.get(offset) ?? { zone, emails: 0 };
    groups.set(offset, group);
    group.emails += (contacts / counted) * willSend;
  }
  return [...groups.values()];
}

function findStartMs({ clock, scheduledAt, nowMs }: DurationRequest, groups: Group[]): number {
  const wall: WallMs | undefined = clock.sendAtLocal === null ? undefined : readLocalTime(clock.sendAtLocal);
  const hours = groups.map(({ zone }) =>
    toInstant(toCanonicalZone(zone) ?? toCanonicalZone(clock.projectZone) ?? 'UTC', wall ?? 0),
  );
  return Math.max(nowMs, wall === undefined ? (scheduledAt?.getTime() ?? 0) : Math.min(...hours));
}

/** A period in which the campaign may send to a group. `group` is the index of the group. */
interface Stretch {
  group: number;
  fromMs: number;
  toMs: number;
}

/**
 * Returns when the last email of the groups has been sent, if all groups start at `startMs` and share the send rate.
 */
function findEndMs(
  p: DurationRequest,
  send: { groups: Group[]; rate: number; startMs: number; winnerAt: Date | null },
) {
  const { groups, rate, startMs, winnerAt } = send;
  const simulatedUntilMs = startMs + SIMULATED_MS;
  const stretches = groups.flatMap(({ zone }, group) => {
    const clock = { ...p.clock, zone, goingSince: new Date(startMs), winnerAt };
    return listOpenPeriods(clock, startMs, simulatedUntilMs).map((open) => ({ group, ...open }));
  });
  // Recipients whose local send time has passed get no email if the campaign's policy is to skip them.
  const left = groups.map(({ emails }, n) => (stretches.some(({ group }) => group === n) ? emails : 0));
  const end = simulateSending(stretches, left, rate);
  const rest = left.reduce((sum, emails) => sum + emails, 0);
  if (rest < 0.5) return Math.max(end, startMs);
  // Every later week sends as many emails as the second week.
  const perWeek = (rate * sumOpenMs(stretches, startMs + WEEK_MS, simulatedUntilMs)) / 1000;
  return simulatedUntilMs + (rest / perWeek) * WEEK_MS;
}

/**
 * Lists the periods in which the campaign may send to a group. The list is empty if the group's local send time has
 * passed and the campaign's policy is to skip such recipients.
 */
function listOpenPeriods(
  clock: CampaignRecipientTiming,
  fromMs: number,
  untilMs: number,
): { fromMs: number; toMs: number }[] {
  const periods: { fromMs: number; toMs: number }[] = [];
  let atMs = fromMs;
  for (let n = 0; n < GATES_MAX && atMs < untilMs; n += 1) {
    const gate = checkCampaignGate(clock, atMs);
    if (gate.kind === 'late') return periods;
    if (gate.kind === 'closed') {
      atMs = gate.notBeforeMs;
      continue;
    }
    periods.push({ fromMs: atMs, toMs: gate.closesAtMs ?? Number.POSITIVE_INFINITY });
    if (gate.closesAtMs === null) return periods;
    atMs = gate.closesAtMs;
  }
  return periods;
}

/**
 * Simulates the sending, and subtracts the sent emails from `left`. At each moment, the group whose window closes first
 * is sent first. Returns when the last email was sent.
 */
function simulateSending(stretches: Stretch[], left: number[], rate: number): number {
  const edges = [...new Set(stretches.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))].sort((a, b) => a - b);
  let end = 0;
  for (const [n, edge] of edges.entries()) {
    const nextMs = edges[n + 1] ?? Number.POSITIVE_INFINITY;
    let nowMs = edge;
    const open = stretches.filter(({ fromMs, toMs }) => fromMs <= edge && toMs > edge).sort((a, b) => a.toMs - b.toMs);
    for (const { group } of open) {
      const emails = Math.min(left[group] ?? 0, ((nextMs - nowMs) / 1000) * rate);
      if (emails <= 0) continue;
      left[group] = (left[group] ?? 0) - emails;
      nowMs += (emails / rate) * 1000;
      end = Math.max(end, nowMs);
    }
  }
  return end;
}

/** Returns how long at least one group's window is open between two instants. */
function sumOpenMs(stretches: Stretch[], fromMs: number, toMs: number): number {
  let sum = 0;
  let doneMs = fromMs;
  for (const stretch of [...stretches].sort((a, b) => a.fromMs - b.fromMs)) {
    const begin = Math.max(doneMs, stretch.fromMs);
    const end = Math.min(toMs, stretch.toMs);
    if (end > begin) {
      sum += end - begin;
      doneMs = end;
    }
  }
  return sum;
}
