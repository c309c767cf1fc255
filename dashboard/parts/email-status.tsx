import { text } from '../text/text.ts';
import { wordOf } from '../text/words.ts';
import { Status } from './status.tsx';
import { WordBadge } from './word-badge.tsx';

/**
 * The status of an email. The API calls an email FAILED that a rule of the project held back, such as one to an
 * unsubscribed contact. That email is shown as skipped, in gray, because nothing went wrong.
 */
export function EmailStatus({ status, reason }: { status: string; reason?: string | null | undefined }) {
  const why = reason ? wordOf('reason', reason) : undefined;
  if (status !== 'FAILED' || why?.color !== 'gray') return <WordBadge kind="email" value={status} />;
  return (
    <Status tone="idle" means={`${why.means} (${status}, ${reason})`}>
      {text.parts.skipped}
    </Status>
  );
}
