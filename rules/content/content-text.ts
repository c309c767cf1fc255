import { compile, type DomNode, type FormatCallback } from 'html-to-text';
import { BLOCK_TAGS, type FlatToken } from './liquid-tokens.ts';

/** No email is nested more deeply; text beyond this depth is cut. */
const MAX_DEPTH = 100;
const MAX_CHILD_NODES = 5_000;

const altText: FormatCallback = (element, _walk, builder) => {
  const alt: unknown = element.attribs?.alt;
  if (typeof alt === 'string' && alt.trim() !== '') builder.addInline(alt.trim());
};

/**
 * Returns a link as text: its label, then its address between `<` and `>`, so that email clients do not include the
 * punctuation after it in the link. An address that equals its label appears once.
 */
const linkText: FormatCallback = (element, walk, builder) => {
  // Browsers ignore blanks around an address, and line breaks in it.
  const written = String(element.attribs?.href ?? '').replace(/[\t\n\r]/g, '');
  const href = written.trim().replace(/^mailto:/i, '');
  if (href === '' || href.startsWith('#')) return walk(element.children, builder);
  const words = wordsOf(element.children);
  if (words === href) return builder.addInline(`<${href}>`, { noWordTransform: true });
  walk(element.children, builder);
  builder.addInline(words === '' ? `<${href}>` : ` <${href}>`, { noWordTransform: true });
};

/** Returns a table cell with a space behind it, so that its text and the next cell's do not form one word. */
const cellText: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

function wordsOf(nodes: DomNode[]): string {
  const texts = nodes.map((node) => (node.type === 'text' ? (node.data ?? '') : wordsOf(node.children ?? [])));
  return texts.join('').trim();
}

const HIDING: Readonly<Record<string, string>> = { display: 'none', 'mso-hide': 'all', visibility: 'hidden' };

const COLONS = [':', ': ', ' :', ' : '];

/** Elements that no reader of the HTML sees, by their attributes and the styles that email authors write. */
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

/** Style of the hidden part that holds the preheader. The text part omits it, like everything hidden. */
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

/** Returns the text part of rendered HTML. */
export function htmlToText(html: string): string {
  return convert(html).trim();
}

const OUTPUT = '\uE000';
const TAG = '\uE002';
const END = '\uE001';
/** Matches braces of the text that would start a tag or an output, also together with the Liquid behind them. */
const LIQUID_LIKE = /\{[{%\uE000\uE002]/;

/**
 * Returns the text part of an HTML template, as a template. Liquid is treated as single words and returned as in
 * `liquidOf`. Links keep the address that their author wrote, so that a reader of plain text sees the target. Undefined
 * if blocks and HTML tags overlap, so that the blocks of the text would differ from the blocks of the HTML, and if braces
 * that are text in the HTML (`&#123;&#123;`) would be Liquid in the text.
 */
export function textTemplate(
  html: string,
  tokens: FlatToken[],
  liquidOf: (token: FlatToken) => string,
): string | undefined {
  const marked = tokens
    .map((token, index) => {
      if (token.kind === 'text') return html.slice(token.begin, token.end);
      return `${token.kind === 'output' ? OUTPUT : TAG}${index}${END}`;
    })
    .join('');
  const kept = new Set<FlatToken>();
  const words = htmlToText(marked);
  if (LIQUID_LIKE.test(words)) return undefined;
  const text = tidyTagLines(words).replace(/[\uE000\uE002](\d+)\uE001/g, (_, index: string) => {
    const token = tokens[Number(index)];
    if (token) kept.add(token);
    return token ? liquidOf(token) : '';
  });
  return blocksSurvive(html, tokens, kept) ? text : undefined;
}

/** Tells whether the text has both ends of each block, or neither of them because the block is inside one tag. */
function blocksSurvive(html: string, tokens: FlatToken[], kept: ReadonlySet<FlatToken>): boolean {
  const open: FlatToken[] = [];
  for (const token of tokens) {
    if (token.kind !== 'tag') continue;
    if (BLOCK_TAGS.has(token.content)) open.push(token);
    if (!token.content.startsWith('end')) continue;
    const start = open.pop();
    if (!start || kept.has(start) !== kept.has(token)) return false;
    if (!kept.has(token) && /[<>]/.test(textBetween(html, tokens, start, token))) return false;
  }
  return true;
}

function textBetween(html: string, tokens: FlatToken[], from: FlatToken, to: FlatToken): string {
  const between = tokens.filter(({ kind, begin }) => kind === 'text' && begin > from.begin && begin < to.begin);
  return between.map(({ begin, end }) => html.slice(begin, end)).join('');
}

/** Joins lines that have only Liquid tags, because they would leave empty paragraphs. */
function tidyTagLines(text: string): string {
  return text
    .replace(/^((?:\uE002\d+\uE001[ \t]*)+)\n+/, '$1')
    .replace(/\n+[ \t]*((?:\uE002\d+\uE001)(?:[ \t]*\uE002\d+\uE001)*)[ \t]*(?=\n|$)/g, '$1');
}
