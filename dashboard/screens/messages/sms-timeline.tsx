import { isWithheld } from '../../parts/email-status.tsx';
import { describeDuration } from '../../parts/format-duration.ts';
import { getTone } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { getLabel } from '../../text/words.ts';
import type { SmsResponse } from './sms-type.ts';
import { Timeline, type TimelineEntry } from './timeline.tsx';

const words = text.messages;

/** Shows the history of an SMS. The provider's reply is at the last entry. */
export function SmsTimeline({ sms }: { sms: SmsResponse }) {
  const { createdAt, sentAt, deliveredAt } = sms;
  const seconds = getSecondsToDelivery(sms);
  const entries: TimelineEntry[] = [{ name: words.instants.createdAt, at: createdAt }];
  if (sentAt !== null) entries.push({ name: words.instants.sentAt, at: sentAt, detail: words.took });
  if (deliveredAt !== null)
    entries.push({
      name: words.instants.deliveredAt,
      at: deliveredAt,
      tone: 'done',
      detail: seconds === undefined ? undefined : words.smsDeliveredAfter(describeDuration(seconds)),
    });
  if (getTone('sms', sms.status) === 'failed') entries.push(buildLastEntry(sms));
  return <Timeline entries={entries} />;
}

/** Returns the entry of an SMS that was not delivered. The API does not store its time. */
function buildLastEntry({ status, reason, error }: SmsResponse): TimelineEntry {
  const isSkipped = isWithheld(reason);
  return {
    name: isSkipped ? text.parts.skipped : getLabel('sms', status),
    ...(!isSkipped && { tone: 'failed' }),
    detail: error ? <code>{error}</code> : reason && getLabel('reason', reason),
  };
}

/** Returns the seconds from the sending to the delivery. Undefined if one of the times is missing. */
export function getSecondsToDelivery({ sentAt, deliveredAt }: SmsResponse): number | undefined {
  if (sentAt === null || deliveredAt === null) return undefined;
  return Math.max(0, Date.parse(deliveredAt) - Date.parse(sentAt)) / 1_000;
}
