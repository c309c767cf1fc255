import { redact } from '../failure-text.ts';
import type { Refusal, RefusalStage } from './refusal.ts';

/** Number of consecutive recipients with the same refusal about us that pauses their route. */
export const REFUSED_RECIPIENTS = 10;
/**
 * Number of different refusals to remember. A server that writes a different text each time must not fill the memory.
 */
const REFUSALS_MAX = 100;
const REPLY_MAX_CHARS = 300;
const SAME_MAX_CHARS = 120;

/** A refusal with the server's reply. */
export interface RefusedBy {
  stage: RefusalStage;
  code: number;
  enhanced: string | null;
  text: string;
}

/** Returns a text that is equal for the same refusal of different recipients: without addresses, numbers and ids. */
export function refusalFingerprint({ stage, code, enhanced, text }: RefusedBy): string {
  const words = text.toLowerCase().replace(/<[^>]*>|\S*[@\d]\S*/g, ' ');
  return [
    stage,
    code,
    enhanced ?? '-',
    words
      .replace(/[^\p{L}]+/gu, ' ')
      .trim()
      .slice(0, SAME_MAX_CHARS),
  ].join(' ');
}

/** Returns the server's reply as an operator reads it: one line without addresses. */
export function replyOf({ code, text }: Pick<RefusedBy, 'code' | 'text'>): string {
  return redact(`${code} ${text}`.replace(/\s+/g, ' ')).slice(0, REPLY_MAX_CHARS);
}

/** Returns the codes of the server's reply, for the log. Its text may name a person, and stays in Postgres. */
export function replyCodesOf({ code, enhanced }: Pick<RefusedBy, 'code' | 'enhanced'>): string {
  return enhanced === null ? String(code) : `${code} ${enhanced}`;
}

interface Count {
  /** Recipients by project. */
  refused: Map<string, Set<string>>;
  /** Whether the route accepted email of another project meanwhile, so that not all projects are refused. */
  isOpenToOthers: boolean;
}

/**
 * Counts refusals about us on one route. An accepted email clears the counts of its project, so only consecutive
 * refusals count.
 */
export class RouteRefusals {
  private readonly counts = new Map<string, Count>();
  /** Whether the route has accepted an email since the process started or since the last pause. */
  isProven = false;
  /** Whether the route was paused and has accepted no email since then. */
  isOnTrial = false;

  accepted(projectId: string): void {
    this.isProven = true;
    this.isOnTrial = false;
    if (this.counts.size === 0) return;
    for (const [key, count] of this.counts) {
      count.refused.delete(projectId);
      count.isOpenToOthers = true;
      if (count.refused.size === 0) this.counts.delete(key);
    }
  }

  /** Clears all counts when a pause starts or ends, so that the next emails test the route from scratch. */
  paused(): void {
    this.counts.clear();
    this.isProven = false;
    this.isOnTrial = true;
  }

  /** Counts a refused email. Returns the projects for which to pause the route. Undefined if it continues. */
  refused(p: { refusal: Refusal; by: RefusedBy; projectId: string; to: string }): string[] | undefined {
    if (p.refusal.about !== 'us') return undefined;
    const isLogin = p.by.stage === 'auth' && p.by.code >= 500;
    if (isLogin && !this.isProven) return [];
    if (!this.isCounted(p.refusal, p.by)) return undefined;
    const count = this.countOf(refusalFingerprint(p.by));
    const own = count.refused.get(p.projectId) ?? new Set();
    own.add(p.to);
    count.refused.set(p.projectId, own);
    const total = [...count.refused.values()].reduce((sum, recipients) => sum + recipients.size, 0);
    if (count.refused.size > 1 && !count.isOpenToOthers && total >= REFUSED_RECIPIENTS)
      return [...count.refused.keys()];
    return own.size >= REFUSED_RECIPIENTS ? [p.projectId] : undefined;
  }

  /**
   * Tells whether an email with a refusal about us should wait instead of ending. Until the route has accepted an
   * email, the first refusal of an email proves little. After a pause, no refusal does.
   */
  shouldWait(attempts: number): boolean {
    return !this.isProven && (this.isOnTrial || attempts <= 1);
  }

  /**
   * Tells whether a refusal counts. A 4xx only means that the server is busy. A receiver's policy counts only until the
   * route has accepted an email; after that, the hold guard handles it.
   */
  private isCounted(refusal: Refusal, { stage, code }: RefusedBy): boolean {
    if (refusal.about !== 'us' || code < 500) return false;
    if (stage === 'connect' || stage === 'ehlo' || stage === 'starttls') return false;
    return refusal.why === 'account' || refusal.why === 'session' || !this.isProven;
  }

  private countOf(key: string): Count {
    const known = this.counts.get(key);
    if (known) return known;
    if (this.counts.size >= REFUSALS_MAX) this.counts.delete(this.counts.keys().next().value ?? '');
    const count: Count = { refused: new Map(), isOpenToOthers: false };
    this.counts.set(key, count);
    return count;
  }
}
