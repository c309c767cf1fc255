import { findWord, getLabel, type WordKind } from '../text/words.ts';
import { Breakable } from './breakable.tsx';
import { Status, Tag, Term, type Tone } from './status.tsx';

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

/** Returns the tone of a status or a reason. Words without a color, and unknown ones, are gray. */
export function getTone(kind: WordKind, value: string): Tone {
  return TONES.get(findWord(kind, value)?.color ?? '') ?? 'idle';
}

/** A status or reason as a dot and a word, or a step type as a bordered word, with its meaning on hover and focus. */
export function WordBadge({ kind, value }: { kind: WordKind; value: string | null | undefined }) {
  if (!value) return null;
  const word = findWord(kind, value);
  const means = word && `${word.means} (${value})`;
  const label = getLabel(kind, value);
  if (kind === 'step') return <Tag means={means}>{label}</Tag>;
  return (
    <Status tone={getTone(kind, value)} means={means}>
      {word ? <Breakable text={label} /> : value}
    </Status>
  );
}

/** A reason in a list. It has no dot, because the status beside it has one. */
export function ReasonText({ value }: { value: string | null }) {
  return value === null ? null : <WordText kind="reason" value={value} />;
}

/**
 * The name of a code as plain text, with its meaning and the code on hover and focus. Unknown codes are shown as is.
 */
export function WordText({ kind, value }: { kind: WordKind; value: string }) {
  const word = findWord(kind, value);
  if (!word) return <Breakable text={value} />;
  return (
    <Term means={`${word.means} (${value})`}>
      <Breakable text={getLabel(kind, value)} />
    </Term>
  );
}
