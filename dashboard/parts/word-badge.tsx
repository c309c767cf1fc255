import { Tooltip } from '@mantine/core';
import { type WordKind, wordOf } from '../text/words.ts';
import { Breakable } from './breakable.tsx';

/** The tone of a status, by the color that `words` gives it. */
const TONES = new Map([
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
  const status = (
    <span className="status" data-tone={TONES.get(word?.color ?? '') ?? 'idle'} tabIndex={word ? 0 : undefined}>
      <span className="status-word" data-enum={/^[A-Z_]+$/.test(value) || undefined}>
        {word ? <Breakable text={codeToWords(value)} /> : value}
      </span>
    </span>
  );
  return word ? (
    <Tooltip label={`${word.means} (${value})`} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {status}
    </Tooltip>
  ) : (
    status
  );
}

/** Formats a code of the API as words: `suppressed:hard_bounce` becomes "suppressed: hard bounce". */
function codeToWords(code: string): string {
  return code.replaceAll('_', ' ').replace(':', ': ');
}
