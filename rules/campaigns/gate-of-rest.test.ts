import { describe, expect, it } from 'vitest';
import { type CampaignRecipientTiming, checkCampaignGate } from './gate.ts';

const clock: CampaignRecipientTiming = {
  zone: 'Europe/Berlin',
  projectZone: 'UTC',
  window: null,
  sendAtLocal: '2026-12-01T09:00',
  latePolicy: 'SKIP',
  goingSince: new Date('2026-11-30T00:00:00Z'),
};
const toMs = (instant: string) => Date.parse(instant);

describe('the local send time of recipients who waited for the winner of a test', () => {
  it.each([
    ['the next day', '2026-12-01T12:00:00Z', '2026-12-02T08:00:00Z'],
    [
      'the next day, even if the winner was chosen before the first day',
      '2026-11-30T12:00:00Z',
      '2026-12-02T08:00:00Z',
    ],
    [
      'the next day, if the winner was chosen 5 minutes after the send time',
      '2026-12-02T08:05:00Z',
      '2026-12-02T08:00:00Z',
    ],
    ['the day after the winner was chosen', '2026-12-04T12:00:00Z', '2026-12-05T08:00:00Z'],
  ])('recipients who waited for a winner get the email on %s', (_, winnerAt, expected) => {
    const rest = { ...clock, winnerAt: new Date(winnerAt) };
    expect(checkCampaignGate(rest, toMs(expected) - 1)).toEqual({ kind: 'closed', notBeforeMs: toMs(expected) });
    expect(checkCampaignGate(rest, toMs(expected))).toEqual({ kind: 'open', closesAtMs: null });
  });

  it('does not apply to other recipients, whose local send time is the send time of the campaign', () => {
    const expected = toMs('2026-12-01T08:00:00Z');
    expect(checkCampaignGate(clock, expected - 1)).toEqual({ kind: 'closed', notBeforeMs: expected });
  });
});
