import { text } from '../text/text.ts';
import { findWord } from '../text/words.ts';
import { Status } from './status.tsx';
import { WordBadge } from './word-badge.tsx';

/**
 * Tells whether the reason of an email with the status FAILED means that the service withheld the email, for example
 * because the contact is not subscribed. `words.ts` gives such reasons the color gray.
 */
export function isWithheld(reason: string | null | undefined): boolean {
  return reason ? findWord('reason', reason)?.color === 'gray' : false;
}

/**
 * The status of an email or an SMS. If the service withheld the message, for example because its contact is
 * unsubscribed, the API's status is FAILED. Such a message is shown as skipped, in gray, because nothing went wrong.
 */
export function EmailStatus({
  kind = 'email',
  status,
  reason,
  isSkipped,
}: {
  kind?: 'email' | 'sms';
  status: string;
  reason?: string | null | undefined;
  /** Whether the campaign counts the email as skipped. If undefined, the color of the reason decides. */
  isSkipped?: boolean;
}) {
  const word = reason ? findWord('reason', reason) : undefined;
  if (status !== 'FAILED' || !word || !(isSkipped ?? isWithheld(reason)))
    return <WordBadge kind={kind} value={status} />;
  return (
    <Status tone="idle" means={`${word.means} (${status}, ${reason})`}>
      {text.parts.skipped}
    </Status>
  );
}
