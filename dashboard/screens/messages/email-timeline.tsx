import type { ReactNode } from 'react';
import { formatCount } from '../../parts/count-link.tsx';
import { isWithheld } from '../../parts/email-status.tsx';
import { text } from '../../text/text.ts';
import { getLabel } from '../../text/words.ts';
import type { Email } from './email-type.ts';
import { Timeline, type TimelineEntry } from './timeline.tsx';

const INSTANTS = [
  ...(['createdAt', 'sentAt', 'deliveredAt', 'openedAt', 'clickedAt'] as const),
  ...(['bouncedAt', 'complainedAt'] as const),
];
type EmailInstant = (typeof INSTANTS)[number];

const TONES: Partial<Record<EmailInstant, TimelineEntry['tone']>> = {
  deliveredAt: 'done',
  openedAt: 'accent',
  clickedAt: 'accent',
  bouncedAt: 'failed',
  complainedAt: 'failed',
};

/** Shows the history of an email: the provider's reply and the counts of opens and clicks are at their entries. */
export function EmailTimeline({ email }: { email: Email }) {
  const entries = INSTANTS.flatMap((instant): TimelineEntry[] => {
    const at = email[instant];
    if (at === null) return [];
    return [{ name: text.messages.instants[instant], at, tone: TONES[instant], detail: renderDetail(instant, email) }];
  });
  return <Timeline entries={[...entries, ...buildLastEntry(email)]} />;
}

/** Returns the last entry for an email that was not sent. Its time is unknown if it failed before the API stored it. */
function buildLastEntry({ status, reason, bouncedAt, failedAt }: Email): TimelineEntry[] {
  if (status !== 'FAILED' || bouncedAt !== null) return [];
  const end = { ...(failedAt !== null && { at: failedAt }), detail: reason ? getLabel('reason', reason) : undefined };
  if (isWithheld(reason)) return [{ name: text.parts.skipped, ...end }];
  return [{ name: getLabel('email', status), tone: 'failed', ...end }];
}

function renderDetail(instant: EmailInstant, email: Email): ReactNode {
  const { error, attempts, bouncedAt, bounceType, sentAt } = email;
  if (instant === 'openedAt') return formatCounts(text.messages.opens, email.opens, email.machineOpens);
  if (instant === 'clickedAt') return formatCounts(text.messages.clicks, email.clicks, email.machineClicks);
  if (instant === 'bouncedAt')
    return <Reply prefix={bounceType && text.messages.bounceTypes[bounceType]} error={error} />;
  const isLast = bouncedAt === null && instant === (sentAt ? 'sentAt' : 'createdAt');
  if (isLast && error) return <Reply prefix={countAttempts(attempts)} error={error} />;
  return instant === 'sentAt' ? `${text.messages.took}, ${countAttempts(attempts)}` : undefined;
}

/** Names bots only if there were any. */
function formatCounts(words: typeof text.messages.opens, humans: number, bots: number): string {
  return words(formatCount(humans), bots > 0 ? formatCount(bots) : undefined);
}

function countAttempts(attempts: number): string {
  return text.messages.attempts(Math.max(attempts, 1), formatCount(Math.max(attempts, 1)));
}

/** The provider's reply, after a word that says what it is. */
function Reply({ prefix, error }: { prefix: string | null; error: string | null }) {
  return (
    <>
      {prefix}
      {prefix && error && ' · '}
      {error && <code>{error}</code>}
    </>
  );
}
