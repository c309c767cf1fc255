import type { FlatToken } from './liquid-tokens.ts';

/** Matches the end of a word: a space, or an HTML tag that starts a block, a line or a cell. */
const WORD_BREAK =
  /\s|<\/?(?:p|div|br|hr|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tfoot|tr|td|th|section|article|header|footer|body)\b/i;

/**
 * Returns the start offsets of the Liquid outputs that touch another output or a tag without a word break between them.
 * The values of adjacent outputs, also of two iterations of a loop, may form one word. Two harmless values could then
 * form a link.
 */
export function findJoinedOutputs(source: string, tokens: FlatToken[]): Set<number> {
  const liquid = tokens.filter((token) => token.kind !== 'text');
  const joined = new Set<number>();
  for (const [index, token] of liquid.entries()) {
    const next = liquid[index + 1];
    if (!next || hasWordBreakBetween(source, token, next)) continue;
    for (const { kind, begin } of [token, next]) if (kind === 'output') joined.add(begin);
  }
  return joined;
}

function hasWordBreakBetween(source: string, left: FlatToken, right: FlatToken): boolean {
  let between = source.slice(left.end, right.begin);
  if (left.trimRight) between = between.trimStart();
  if (right.trimLeft) between = between.trimEnd();
  return WORD_BREAK.test(between);
}
