import { Box } from '@mantine/core';
import { type CSSProperties, Fragment, type ReactNode } from 'react';
import { Placeholder } from './loading.tsx';

const TEXT_WIDTHS = ['62%', '48%', '70%', '54%', '40%'];
/** The height of a line of text in pixels. */
const LINE = 18;
const GAP = 8;
const LINES_MAX = 6;

/** A gray bar in place of a text. The bar and its margins are as high as a line of the text, in pixels. */
export function GrayLine({ width, height = LINE }: { width: CSSProperties['width']; height?: number }) {
  return <span className="pending-text" style={{ width, height: height - 8 }} />;
}

/** Gray bars in place of a text of several lines. */
export function GrayLines({ count, gap = GAP }: { count: number; gap?: number }) {
  return (
    <Box display="grid" style={{ gap }}>
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all lines are the same
        <GrayLine key={line} width={TEXT_WIDTHS[line % TEXT_WIDTHS.length]} />
      ))}
    </Box>
  );
}

/** Repeats a gray part. */
export function Repeat({ count, children }: { count: number; children: ReactNode }) {
  return Array.from({ length: count }, (_, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: all parts are the same
    <Fragment key={n}>{children}</Fragment>
  ));
}

/** Shows gray lines while data loads, in a box of this height in pixels. */
export function PendingLines({ height = 240 }: { height?: number }) {
  const count = Math.min(LINES_MAX, Math.max(1, Math.floor((height + GAP) / (LINE + GAP))));
  return (
    <Placeholder>
      <Box h={height} className="pending-lines" style={{ overflow: 'hidden' }}>
        <GrayLines count={count} />
      </Box>
    </Placeholder>
  );
}
