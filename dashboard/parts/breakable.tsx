import { Fragment } from 'react';

const ADDRESS = /^[^\s@]+@[^\s@]+$/;
/** The maximum length, longer than any address or path that people write. The browser breaks a longer text anywhere. */
const CHARS_MAX = 400;

/**
 * Shows a text without spaces with possible line breaks: in an address before the at sign; in a path or a name after
 * its dots, colons, slashes and underscores. A copy of the text has no extra characters.
 */
export function Breakable({ text }: { text: string }) {
  return splitIntoPieces(text).map((piece, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the index identifies a piece
    <Fragment key={n}>
      {n > 0 && <wbr />}
      {piece}
    </Fragment>
  ));
}

/** Splits a text at the positions where a line may break. Exported for its test. */
export function splitIntoPieces(text: string): string[] {
  if (text.length > CHARS_MAX) return [text];
  return text.split(ADDRESS.test(text) ? /(?=@)/ : /(?<=[/._:])(?=[^/._:\s])/);
}
