import { type WordKind, wordOf } from '../text/words.ts';
import { Breakable } from './breakable.tsx';
import { Status, Tag, type Tone } from './status.tsx';

/** The tone of a status, by the color that `words` gives it. */
const TONES = new Map<string, Tone>([
  ['green', 'done'],
  ['teal', 'done'],
  ['blue', 'moving'],
  ['violet', 'moving'],
  ['yellow', 'waiting'],
  ['orange', 'waiting'],
  ['red', 'failed'],
]);

/** A status, reason or step type as a dot and a word, with its meaning on hover and focus. */
export function WordBadge({ kind, value }: { kind: WordKind; value: string | null | undefined }) {
  if (!value) return null;
  const word = wordOf(kind, value);
  const means = word && `${word.means} (${value})`;
  if (kind === 'step') return <Tag means={means}>{asWord(value)}</Tag>;
  return (
    <Status tone={TONES.get(word?.color ?? '') ?? 'idle'} means={means}>
      <span data-enum={/^[A-Z_]+$/.test(value) || undefined}>
        {word ? <Breakable text={codeToWords(value)} /> : value}
      </span>
    </Status>
  );
}

/** Formats an enum of the API as a word: `SEND_EMAIL` becomes "Send email". */
export function asWord(value: string): string {
  const words = value.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Formats a code of the API as words: `suppressed:hard_bounce` becomes "Suppressed: hard bounce". */
export function codeToWords(code: string): string {
  const words = code.replaceAll('_', ' ').replace(':', ': ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
