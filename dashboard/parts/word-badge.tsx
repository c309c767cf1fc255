import { Badge, Tooltip } from '@mantine/core';
import { type WordKind, wordOf } from '../text/words.ts';
import { Breakable } from './breakable.tsx';

/** What is no word of ours can be of any length. */
const CUT = { label: { overflow: 'hidden', textOverflow: 'ellipsis' } } as const;
/** A word of ours is read whole: where there is no room it goes on in a second line. */
const WHOLE = {
  root: { height: 'auto', minHeight: 'var(--badge-height)', lineHeight: 1.35, paddingBlock: 2 },
  label: { overflow: 'visible', whiteSpace: 'normal', overflowWrap: 'normal' },
} as const;

/** Most words: shown whole also in a narrow column. The few longer ones are cut there. */
const WHOLE_CHARS = 14;

/** A status, reason or step type in the API's own word, with what it means on hover and focus. */
export function WordBadge({ kind, value }: { kind: WordKind; value: string | null | undefined }) {
  if (!value) return null;
  const word = wordOf(kind, value);
  const badge = (
    <Badge
      variant="light"
      color={word?.color ?? 'gray'}
      tt="none"
      radius="sm"
      tabIndex={word ? 0 : undefined}
      miw={value.length <= WHOLE_CHARS ? 'max-content' : undefined}
      maw="100%"
      styles={word ? WHOLE : CUT}
    >
      {word ? <Breakable text={value} /> : value}
    </Badge>
  );
  return word ? (
    <Tooltip label={word.means} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {badge}
    </Tooltip>
  ) : (
    badge
  );
}
