import { checkWindowGate, type RecipientTiming } from '../campaigns/gate.ts';
import { DELIVERY_EXPIRES_MS } from './retry-schedule.ts';

/**
 * Returns when the retries of a message end, as far as this is known now. The time during which the message's sending
 * window was closed since the first attempt does not count (contract §9.10 Retries). Otherwise a message that is
 * deferred before a weekend would expire at its first attempt on Monday.
 * @param expiresAt when the retries end if the window is always open: `DELIVERY_EXPIRES_MS` after the first attempt
 */
export function postponeExpiry(expiresAt: Date, timing: RecipientTiming | undefined, nowMs: number): Date {
  if (!timing?.window) return expiresAt;
  let closedMs = 0;
  for (let atMs = expiresAt.getTime() - DELIVERY_EXPIRES_MS; atMs < nowMs; ) {
    const gate = checkWindowGate(timing, atMs);
    const changesMs = gate.kind === 'closed' ? gate.notBeforeMs : (gate.closesAtMs ?? nowMs);
    const untilMs = Math.min(changesMs, nowMs);
    if (gate.kind === 'closed') closedMs += untilMs - atMs;
    atMs = untilMs;
  }
  return new Date(expiresAt.getTime() + closedMs);
}
