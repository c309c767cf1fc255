import { Fragment } from 'react';

const ADDRESS = /^[^\s@]+@[^\s@]+$/;
/** Longer than any address or path that people write; the browser breaks such text where it must. */
const MOST_CHARS = 400;

/**
 * A text without spaces that may be broken where its reader would: an address before its @, a path, a name with dots or
 * underscores after them. Copied, it is what it was.
 */
export function Breakable({ text }: { text: string }) {
  return piecesOf(text).map((piece, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
    <Fragment key={n}>
      {n > 0 && <wbr />}
      {piece}
    </Fragment>
  ));
}

/** Exported for its test. */
export function piecesOf(text: string): string[] {
  if (text.length > MOST_CHARS) return [text];
  return text.split(ADDRESS.test(text) ? /(?=@)/ : /(?<=[/._:])(?=[^/._:\s])/);
}
