import { redact } from '../failure-text.ts';
import type { Refusal, RefusalStage } from './refusal.ts';

/**
 * The number of consecutive recipients with the same refusal about us (the sending service) after which their route is
 * paused.
 */
export const PAUSE_AFTER_RECIPIENTS = 10;
/** The maximum number of different refusals in memory. A server may write a different text each time. */
const REFUSALS_MAX = 100;
const REPLY_MAX_CHARS = 300;
const FINGERPRINT_MAX_CHARS = 120;

/** The reply of the server that refused. */
export interface RefusedBy {
  stage: RefusalStage;
  code: number;
  enhanced: string | null;
  text: string;
}

/**
 * Returns a text that is equal if a server refuses several recipients in the same way: the reply without addresses,
 * numbers and ids.
 */
export function fingerprintRefusal({ stage, code, enhanced, text }: RefusedBy): string {
  const words = text.toLowerCase().replace(/<[^>]*>|\S*[@\d]\S*/g, ' ');
  return [
    stage,
    code,
    enhanced ?? '-',
    words
      .replace(/[^\p{L}]+/gu, ' ')
      .trim()
      .slice(0, FINGERPRINT_MAX_CHARS),
  ].join(' ');
}

/** Returns the server's reply for the operator: one line, with addresses removed. */
export function toReplyLine({ code, text }: Pick<RefusedBy, 'code' | 'text'>): string {
  return redact(`${code} ${text}`.replace(/\s+/g, ' ')).slice(0, REPLY_MAX_CHARS);
}

/**
 * Returns the codes of the server's reply, for the log. The text of the reply may contain a name, so only Postgres
 * stores it.
 */
export function toReplyCodes({ code, enhanced }: Pick<RefusedBy, 'code' | 'enhanced'>): string {
  return enhanced === null ? String(code) : `${code} ${enhanced}`;
}

interface Count {
  /** The refused recipients, by project. */
  refused: Map<string, Set<string>>;
  /**
   * True if the route accepted email of some project since the first of these refusals, so the server does not refuse
   * all projects.
   */
  isOpenToOthers: boolean;
}

/**
 * Counts refusals about us on one route. An accepted email clears the counts of its project, so only consecutive
 * refusals count.
 */
export class RouteRefusals {
  private readonly counts = new Map<string, Count>();
  /** True if the route has accepted an email since the process started or since the last pause. */
  isProven = false;
  /** True if the route was paused and has accepted no email since then. */
  isOnTrial = false;

  recordAccepted(projectId: string): void {
    this.isProven = true;
    this.isOnTrial = false;
    if (this.counts.size === 0) return;
    for (const [key, count] of this.counts) {
      count.refused.delete(projectId);
      count.isOpenToOthers = true;
      if (count.refused.size === 0) this.counts.delete(key);
    }
  }

  /** Clears all counts when a pause starts or ends. The next emails then test the route again. */
  resetAfterPause(): void {
    this.counts.clear();
    this.isProven = false;
    this.isOnTrial = true;
  }

  /**
   * Counts a refused email. Returns the projects for which the route must be paused; an empty list means all projects.
   * Undefined if no pause is needed.
   */
  recordRefused(p: { refusal: Refusal; by: RefusedBy; projectId: string; to: string }): string[] | undefined {
    if (p.refusal.about !== 'us') return undefined;
    const isLogin = p.by.stage === 'auth' && p.by.code >= 500;
    if (isLogin && !this.isProven) return [];
    if (!this.isCounted(p.refusal, p.by)) return undefined;
    const count = this.getOrAddCount(fingerprintRefusal(p.by));
    const recipients = count.refused.get(p.projectId) ?? new Set();
    recipients.add(p.to);
    count.refused.set(p.projectId, recipients);
    const total = [...count.refused.values()].reduce((sum, recipients) => sum + recipients.size, 0);
    if (count.refused.size > 1 && !count.isOpenToOthers && total >= PAUSE_AFTER_RECIPIENTS)
      return [...count.refused.keys()];
    return recipients.size >= PAUSE_AFTER_RECIPIENTS ? [p.projectId] : undefined;
  }

  /**
   * Tells whether an email with a refusal about us should be retried instead of failing. While the route has accepted
   * no email since the start of the process, only the first attempt of an email is retried. After a pause, every
   * attempt is retried until the route accepts an email.
   */
  shouldWait(attempts: number): boolean {
    return !this.isProven && (this.isOnTrial || attempts <= 1);
  }

  /**
   * Tells whether a refusal counts towards a pause of the route. A 4xx code does not count, because the server is only
   * busy. A refusal of the connection, EHLO or STARTTLS does not count either. A refusal by a receiver's policy counts
   * only until the route has accepted an email. After that, the hold guard handles such refusals.
   */
  private isCounted(refusal: Refusal, { stage, code }: RefusedBy): boolean {
    if (refusal.about !== 'us' || code < 500) return false;
    if (stage === 'connect' || stage === 'ehlo' || stage === 'starttls') return false;
    return refusal.why === 'account' || refusal.why === 'session' || !this.isProven;
  }

  private getOrAddCount(key: string): Count {
    const existing = this.counts.get(key);
    if (existing) return existing;
    if (this.counts.size >= REFUSALS_MAX) this.counts.delete(this.counts.keys().next().value ?? '');
    const count: Count = { refused: new Map(), isOpenToOthers: false };
    this.counts.set(key, count);
    return count;
  }
}
