import { Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs';
import { rewriteDefaults } from './liquid-default.ts';

/**
 * The name of the tag around an address that comes from variables. The values determine whether the link is tracked.
 * Only the service writes this tag.
 */
export const COUNTED_LINK = 'counted_link';

/** Tags that have an end tag. */
export const BLOCK_TAGS: ReadonlySet<string> = new Set([
  ...'if unless case for tablerow capture comment raw'.split(' '),
  COUNTED_LINK,
]);

/** A token of a template: text, an output, or a tag. Offsets refer to the source. */
export interface FlatToken {
  kind: 'text' | 'output' | 'tag';
  begin: number;
  end: number;
  /**
   * The text after whitespace control; or the expression of an output, with `default` instead of `??`; or the name of a
   * tag.
   */
  content: string;
  /** True if the token starts with `{{-` or `{%-`. */
  trimLeft: boolean;
  trimRight: boolean;
  /**
   * Returns the token for the library. Each token can be parsed only once, because the library's parser advances the
   * tokenizer inside the token.
   */
  library: () => TopLevelToken;
}

/** Splits a source into tokens. @throws the library's TokenizationError for an output or tag that is not closed */
export function tokenize(source: string): FlatToken[] {
  return new FastTokenizer(source).readTopLevelTokens().map(toFlatToken);
}

/** Returns the text inside the braces of a tag. */
export function getTagText({ library }: FlatToken): string {
  return readInnerText(library());
}

/**
 * Searches for braces with `indexOf`. The library checks every character of the text, which takes most of the time of
 * parsing an email.
 */
class FastTokenizer extends Tokenizer {
  override readHTMLToken(stopStrings: string[]) {
    const begin = this.p;
    let at = this.input.indexOf('{', begin);
    while (at >= 0 && this.input[at + 1] !== '{' && this.input[at + 1] !== '%') at = this.input.indexOf('{', at + 1);
    this.p = Math.max(begin, (at < 0 ? this.N : at) - 1);
    const token = super.readHTMLToken(stopStrings);
    token.begin = begin;
    return token;
  }
}

function toFlatToken(token: TopLevelToken): FlatToken {
  const { begin, end } = token;
  const library = () => token;
  if (token.kind === TokenKind.HTML && 'getContent' in token && typeof token.getContent === 'function')
    return {
      kind: 'text',
      begin,
      end,
      content: String(token.getContent()),
      trimLeft: false,
      trimRight: false,
      library,
    };
  const trim = {
    trimLeft: 'trimLeft' in token && token.trimLeft === true,
    trimRight: 'trimRight' in token && token.trimRight === true,
  };
  if (token.kind === TokenKind.Tag)
    return { kind: 'tag', begin, end, content: 'name' in token ? String(token.name) : '', ...trim, library };
  const expression = readInnerText(token);
  if (!expression.includes('??')) return { kind: 'output', begin, end, content: expression, ...trim, library };
  const content = rewriteDefaults(expression);
  return { kind: 'output', begin, end, content, ...trim, library: () => createOutputToken(content) ?? token };
}

function createOutputToken(content: string): TopLevelToken | undefined {
  return new Tokenizer(`{{ ${content} }}`).readTopLevelTokens()[0];
}

function readInnerText(token: TopLevelToken): string {
  const range = 'contentRange' in token && Array.isArray(token.contentRange) ? token.contentRange : [0, 0];
  return token.input.slice(Number(range[0]), Number(range[1]));
}
