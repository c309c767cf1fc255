import { labelOf, type WordKind, wordOf } from '../text/words.ts';
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
  const label = labelOf(kind, value);
  if (kind === 'step') return <Tag means={means}>{label}</Tag>;
  return (
    <Status tone={TONES.get(word?.color ?? '') ?? 'idle'} means={means}>
      {word ? <Breakable text={label} /> : value}
    </Status>
  );
}
