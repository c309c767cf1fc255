import { compile, type DomNode, type FormatCallback } from 'html-to-text';
import { BLOCK_TAGS, type FlatToken } from './liquid-tokens.ts';

/** The maximum depth of HTML elements that is converted to text. Real emails are not nested more deeply. */
const MAX_DEPTH = 100;
const MAX_CHILD_NODES = 5_000;

const altText: FormatCallback = (element, _walk, builder) => {
  const alt: unknown = element.attribs?.alt;
  if (typeof alt === 'string' && alt.trim() !== '') builder.addInline(alt.trim());
};

/**
 * Writes a link as text: its label, then its address between `<` and `>`. Without the brackets, an email client might
 * include punctuation after the address in the link. An address that equals its label is written once.
 */
const linkText: FormatCallback = (element, walk, builder) => {
  // Browsers ignore spaces around an address, and line breaks in it.
  const address = String(element.attribs?.href ?? '').replace(/[\t\n\r]/g, '');
  const href = address.trim().replace(/^mailto:/i, '');
  if (href === '' || href.startsWith('#')) return walk(element.children, builder);
  const words = readTextOfNodes(element.children);
  if (words === href) return builder.addInline(`<${href}>`, { noWordTransform: true });
  walk(element.children, builder);
  builder.addInline(words === '' ? `<${href}>` : ` <${href}>`, { noWordTransform: true });
};

/** Writes a table cell and a space, so that its text and the text of the next cell do not form one word. */
const cellText: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

function readTextOfNodes(nodes: DomNode[]): string {
  const texts = nodes.map((node) => (node.type === 'text' ? (node.data ?? '') : readTextOfNodes(node.children ?? [])));
  return texts.join('').trim();
}

const HIDING: Readonly<Record<string, string>> = { display: 'none', 'mso-hide': 'all', visibility: 'hidden' };

const COLONS = [':', ': ', ' :', ' : '];

/**
 * Selectors of elements that are hidden in the HTML, by attributes and by the styles that email authors use for this.
 */
const HIDDEN = [
  '[hidden]',
  '[data-skip-in-text]',
  ...['display', 'mso-hide', 'visibility'].flatMap((property) =>
    COLONS.map((colon) => `[style*="${property}${colon}${HIDING[property]}" i]`),
  ),
  // Without `overflow:hidden`, an element of no height shows its content, such as text over an image.
  ...COLONS.flatMap((height) =>
    COLONS.map((overflow) => `[style*="max-height${height}0" i][style*="overflow${overflow}hidden" i]`),
  ),
];

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }));

/** The style of the hidden element with the preheader. The text part omits this element, like all hidden elements. */
export const PREHEADER_STYLE =
  'display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all';

const convert = compile({
  wordwrap: false,
  formatters: { altText, cellText, linkText },
  limits: { maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILD_NODES, ellipsis: '…' },
  selectors: [
    { selector: 'a', format: 'linkText' },
    { selector: 'img', format: 'altText' },
    { selector: 'td', format: 'cellText' },
    { selector: 'th', format: 'cellText' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['style', 'script', 'title', 'template', ...HIDDEN].map((selector) => ({
      selector,
      format: 'skip',
    })),
    ...headings,
  ],
});

/** Converts rendered HTML to a text part. */
export function htmlToText(html: string): string {
  return convert(html).trim();
}

const OUTPUT = '\uE000';
const TAG = '\uE002';
const END = '\uE001';
/**
 * Matches a brace in the text that would start a Liquid tag or output, alone or together with Liquid that follows
 * directly.
 */
const LIQUID_LIKE = /\{[{%\uE000\uE002]/;

/**
 * Converts an HTML template to a template of the text part. Each Liquid tag or output is treated as one word, and
 * written as `liquidOf` returns it. Links keep the address that their author wrote, so that a reader of plain text sees
 * the target. Returns undefined if a Liquid block overlaps with HTML tags, because the block would then contain other
 * text than in the HTML. Also returns undefined if braces that are text in the HTML (`&#123;&#123;`) would be Liquid in
 * the text part.
 */
export function toTextTemplate(
  html: string,
  tokens: FlatToken[],
  liquidOf: (token: FlatToken) => string,
): string | undefined {
  const htmlWithMarkers = tokens
    .map((token, index) => {
      if (token.kind === 'text') return html.slice(token.begin, token.end);
      return `${token.kind === 'output' ? OUTPUT : TAG}${index}${END}`;
    })
    .join('');
  const usedTokens = new Set<FlatToken>();
  const words = htmlToText(htmlWithMarkers);
  if (LIQUID_LIKE.test(words)) return undefined;
  const text = joinTagLines(words).replace(/[\uE000\uE002](\d+)\uE001/g, (_, index: string) => {
    const token = tokens[Number(index)];
    if (token) usedTokens.add(token);
    return token ? liquidOf(token) : '';
  });
  return hasWholeBlocks(html, tokens, usedTokens) ? text : undefined;
}

/**
 * Tells whether the text has the start and the end of each Liquid block. The start and the end may both be missing if
 * the whole block is inside one HTML tag.
 */
function hasWholeBlocks(html: string, tokens: FlatToken[], usedTokens: ReadonlySet<FlatToken>): boolean {
  const open: FlatToken[] = [];
  for (const token of tokens) {
    if (token.kind !== 'tag') continue;
    if (BLOCK_TAGS.has(token.content)) open.push(token);
    if (!token.content.startsWith('end')) continue;
    const start = open.pop();
    if (!start || usedTokens.has(start) !== usedTokens.has(token)) return false;
    if (!usedTokens.has(token) && /[<>]/.test(joinTextBetween(html, tokens, start, token))) return false;
  }
  return true;
}

function joinTextBetween(html: string, tokens: FlatToken[], from: FlatToken, to: FlatToken): string {
  const between = tokens.filter(({ kind, begin }) => kind === 'text' && begin > from.begin && begin < to.begin);
  return between.map(({ begin, end }) => html.slice(begin, end)).join('');
}

/** Joins lines that contain only Liquid tags with the line before, because they would leave empty paragraphs. */
function joinTagLines(text: string): string {
  return text
    .replace(/^((?:\uE002\d+\uE001[ \t]*)+)\n+/, '$1')
    .replace(/\n+[ \t]*((?:\uE002\d+\uE001)(?:[ \t]*\uE002\d+\uE001)*)[ \t]*(?=\n|$)/g, '$1');
}
