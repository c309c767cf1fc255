import { instantOf, readLocalTime, type WallMs } from '../time/local-time.ts';
import { offsetAt, zoneOf } from '../time/zones.ts';
import { type CampaignRecipientTiming, campaignGate } from './gate.ts';
import type { VariantTest } from './variants.ts';

/** Emails per second of an unlimited service: the throughput of one worker beside other work. For an estimate only. */
const FULL_SPEED = 1_000;
/** Windows repeat weekly. The remainder after two weeks is estimated from the second week. */
const WEEK_MS = 7 * 86_400_000;
const REACH_MS = 2 * WEEK_MS;
/** Maximum number of openings per zone: more than two weeks have days. */
const OPENINGS_MAX = 40;

/** Recipients of one zone. Null for recipients who use the project's zone. */
export interface ZoneCount {
  zone: string | null;
  contacts: number;
}

export interface DurationRequest {
  willSend: number;
  /** Emails per second; 0 means no limit. */
  ratePerSecond: number;
  /** Number of recipients per zone. Empty if zones make no difference. */
  zones: ZoneCount[];
  clock: Omit<CampaignRecipientTiming, 'zone' | 'goingSince' | 'winnerAt'>;
  /** When it is scheduled for; null for now. */
  scheduledAt: Date | null;
  test: Pick<VariantTest, 'share' | 'waitMinutes'> | null;
  nowMs: number;
}

/**
 * Estimates the seconds from the start of a campaign until its last email is sent, from the send rate, the sending
 * window, the local time of its recipients, and the wait of a test. The start is now, the scheduled time, or the
 * first recipients' local time; waiting for a window counts.
 */
export function estimateSeconds(p: DurationRequest): number {
  const groups = groupsOf(p);
  const beginMs = beginOf(p, groups);
  const rate = p.ratePerSecond > 0 ? p.ratePerSecond : FULL_SPEED;
  const { share, waitMinutes } = p.test ?? { share: 1, waitMinutes: 0 };
  const parts = (of: number) => groups.map((group) => ({ ...group, emails: group.emails * of }));
  const testedMs = endOf(p, { groups: parts(share), rate, beginMs, winnerAt: null });
  if (share >= 1) return secondsOf(testedMs - beginMs);
  const winnerMs = testedMs + waitMinutes * 60_000;
  const endMs = endOf(p, { groups: parts(1 - share), rate, beginMs: winnerMs, winnerAt: new Date(winnerMs) });
  return secondsOf(endMs - beginMs);
}

/** Rounds up to whole seconds. Less than a millisecond is a rounding error from fractions of emails. */
function secondsOf(ms: number): number {
  return Math.ceil(Math.round(ms) / 1000);
}

/** Recipients with the same local time. One zone stands for all of them. */
interface Group {
  zone: string | null;
  emails: number;
}

/**
 * Scales in proportion, because counted contacts may be skipped for other reasons. About 40 offsets and 600 zones
 * exist.
 */
function groupsOf({ willSend, zones, clock, nowMs }: DurationRequest): Group[] {
  const counted = zones.reduce((sum, { contacts }) => sum + contacts, 0);
  if (counted === 0) return [{ zone: null, emails: willSend }];
  const groups = new Map<number, Group>();
  for (const { zone, contacts } of zones) {
    const offset = offsetAt(zoneOf(zone) ?? zoneOf(clock.projectZone) ?? 'UTC', nowMs);
    const group = groups.get(offset) ?? { zone, emails: 0 };
    groups.set(offset, group);
    group.emails += (contacts / counted) * willSend;
  }
  return [...groups.values()];
}

function beginOf({ clock, scheduledAt, nowMs }: DurationRequest, groups: Group[]): number {
  const wall: WallMs | undefined = clock.sendAtLocal === null ? undefined : readLocalTime(clock.sendAtLocal);
  const hours = groups.map(({ zone }) => instantOf(zoneOf(zone) ?? zoneOf(clock.projectZone) ?? 'UTC', wall ?? 0));
  return Math.max(nowMs, wall === undefined ? (scheduledAt?.getTime() ?? 0) : Math.min(...hours));
}

interface Stretch {
  group: number;
  fromMs: number;
  toMs: number;
}

/** Returns when the last email of the groups has been sent, if all start at `beginMs` and share the rate. */
function endOf(p: DurationRequest, how: { groups: Group[]; rate: number; beginMs: number; winnerAt: Date | null }) {
  const { groups, rate, beginMs, winnerAt } = how;
  const reachMs = beginMs + REACH_MS;
  const stretches = groups.flatMap(({ zone }, group) => {
    const clock = { ...p.clock, zone, goingSince: new Date(beginMs), winnerAt };
    return openings(clock, beginMs, reachMs).map((open) => ({ group, ...open }));
  });
  // Recipients whose time is over get nothing.
  const left = groups.map(({ emails }, n) => (stretches.some(({ group }) => group === n) ? emails : 0));
  const end = drain(stretches, left, rate);
  const rest = left.reduce((sum, emails) => sum + emails, 0);
  if (rest < 0.5) return Math.max(end, beginMs);
  // Every later week sends as many emails as the second week.
  const perWeek = (rate * openMs(stretches, beginMs + WEEK_MS, reachMs)) / 1000;
  return reachMs + (rest / perWeek) * WEEK_MS;
}

/** Lists when the gate is open. Empty if it is too late for the group. */
function openings(clock: CampaignRecipientTiming, fromMs: number, untilMs: number): { fromMs: number; toMs: number }[] {
  const found: { fromMs: number; toMs: number }[] = [];
  let atMs = fromMs;
  for (let n = 0; n < OPENINGS_MAX && atMs < untilMs; n += 1) {
    const gate = campaignGate(clock, atMs);
    if (gate.kind === 'late') return found;
    if (gate.kind === 'closed') {
      atMs = gate.notBeforeMs;
      continue;
    }
    found.push({ fromMs: atMs, toMs: gate.closesAtMs ?? Number.POSITIVE_INFINITY });
    if (gate.closesAtMs === null) return found;
    atMs = gate.closesAtMs;
  }
  return found;
}

/**
 * Subtracts sent emails from `left`; at each moment, the group whose window closes first is sent first. Returns when
 * the last email was sent.
 */
function drain(stretches: Stretch[], left: number[], rate: number): number {
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

/** Returns how long any group's window is open between two instants. */
function openMs(stretches: Stretch[], fromMs: number, toMs: number): number {
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
