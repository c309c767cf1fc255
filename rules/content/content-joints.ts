import type { FlatToken } from './liquid-tokens.ts';

/** What ends a word: a space, or a tag by which HTML begins a block, a line or a cell. */
const APART =
  /\s|<\/?(?:p|div|br|hr|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tfoot|tr|td|th|section|article|header|footer|body)\b/i;

/**
 * The outputs, by their begin, that have another output or a tag beside them with nothing that ends a word in between.
 * What stands there may become one word with its neighbour, a loop's next round included: two harmless values could
 * make one link.
 */
export function joinedOutputs(source: string, tokens: FlatToken[]): Set<number> {
  const liquid = tokens.filter((token) => token.kind !== 'text');
  const joined = new Set<number>();
  for (const [index, token] of liquid.entries()) {
    const next = liquid[index + 1];
    if (!next || isApart(source, token, next)) continue;
    for (const { kind, begin } of [token, next]) if (kind === 'output') joined.add(begin);
  }
  return joined;
}

function isApart(source: string, left: FlatToken, right: FlatToken): boolean {
  let between = source.slice(left.end, right.begin);
  if (left.trimRight) between = between.trimStart();
  if (right.trimLeft) between = between.trimEnd();
  return APART.test(between);
}
