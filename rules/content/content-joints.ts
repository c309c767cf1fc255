import type { FlatToken } from './liquid-tokens.ts';

/** Matches the end of a word: a space, or an HTML tag that starts a block, a line or a cell. */
const APART =
  /\s|<\/?(?:p|div|br|hr|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tfoot|tr|td|th|section|article|header|footer|body)\b/i;

/**
 * Returns the outputs, by their start, that touch another output or a tag without a word break between them. Such an
 * output may form one word with the adjacent one, also with the next iteration of a loop: two harmless values could
 * form one link.
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
