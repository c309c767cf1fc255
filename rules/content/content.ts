import { isReservedMailHeader } from '../emails/service-headers.ts';
import {
  formatAddress,
  formatMailboxesHeader,
  formatMailboxHeader,
  formatMailDate,
  formatTextHeader,
  type HeaderMailbox,
  toSingleLine,
} from '../mime/mime-headers.ts';
import type { Sourced, SourcedValue } from '../provenance/provenance.ts';
import { compileWireBody, fillWireBody, type WireBody } from './content-mime.ts';
import { getDataName, URL_VARIABLES } from './content-names.ts';
import { cutTemplate, type MessageUrls, type Part, renderPart, type Values } from './content-pieces.ts';
import { type ContentSource, type PreparedContent, prepareContent, toContentSource } from './content-prepare.ts';
import { htmlToText } from './content-text.ts';
import { NO_TEXT } from './email-text.ts';
import { buildUnsubscribeUrl } from './link-tokens.ts';
import { type LiquidScope, runWithTemplateLimit } from './liquid.ts';

export { resolveLink } from './content-links.ts';
export type { MessageUrls } from './content-pieces.ts';
export { type AuthoredContent, type ContentSource, listContentTemplates, toContentSource } from './content-prepare.ts';

/**
 * Content that is cut into constant pieces and holes, once for all its messages. Compiled content exists only in
 * memory, and cannot be stored.
 */
export interface CompiledContent {
  /**
   * The addresses of tracked links, by the index in `/c/<token>/<index>`. `resolveLink` renders the Liquid in an
   * address.
   */
  links: string[];
  /** The keys of contact data that the templates read, or `*` if the templates may read any key. */
  variables: string[] | '*';
  /**
   * True if messages have the header List-Unsubscribe: if the type is MARKETING, or a template contains the unsubscribe
   * link (contract §9.2 Headers of every email).
   */
  needsUnsubscribe: boolean;
  /** True if messages must be rendered with a time limit, which costs about 130 µs per message. */
  costly: boolean;
  subject: Part;
  html: Part;
  /** Undefined if the text part must be derived from the HTML of each rendered email. */
  text: Part | undefined;
  /** The encoded body, once a message was rendered (see `getWireBody`). */
  wire: WireBody | undefined;
}

export interface RenderedContent {
  subject: string;
  html: string;
  text: string;
}

export interface MessageHeaders {
  from: HeaderMailbox;
  to: HeaderMailbox;
  cc?: readonly HeaderMailbox[];
  date: Date;
  /** With angle brackets, as `createMessageId` returns it. */
  messageId: string;
  replyTo?: HeaderMailbox | readonly HeaderMailbox[] | null;
  /** Other headers. The value of a header is text on one line. */
  extra?: readonly (readonly [name: string, value: string])[];
  /** An email address for List-Unsubscribe, in addition to the web link. Null omits List-Unsubscribe. */
  listUnsubscribe?: string | null;
}

export interface RenderInput {
  /**
   * The variables of the templates. Untrusted values are rendered as plain text without links, and never inside
   * addresses or markup.
   */
  vars: Sourced<LiquidScope>;
  urls: MessageUrls;
}

/**
 * Compiles content: checks the templates, rewrites links for click tracking, adds the open pixel, adds a footer to
 * MARKETING bodies without an unsubscribe link, derives the text part, and cuts everything into pieces.
 * @throws TemplateError with field, line and column, or because compiling takes longer than the time limit
 */
export function compileContent(source: ContentSource): CompiledContent {
  return runWithTemplateLimit(() => compileParts(source, { whole: false }));
}

/**
 * Compiles content so that the template library renders it as a whole, for tests and the bench. Rendering is slow, and
 * its result must equal the result with `compileContent`.
 */
export function compileWhole(source: ContentSource): CompiledContent {
  return compileParts(source, { whole: true });
}

/**
 * Renders the subject, the HTML and the text part as strings without encoding, for the API, and for email with
 * attachments.
 * @throws TemplateError
 */
export function renderContent(
  content: CompiledContent,
  vars: Sourced<LiquidScope>,
  urls: MessageUrls,
): RenderedContent {
  const input = { vars, urls };
  const values = toValues(content, input);
  return limitIfCostly(content, () => {
    const html = renderPart(content.html, values);
    return {
      subject: toSingleLine(renderPart(content.subject, toValues(content, input, 'subject'))),
      html,
      text: content.text ? renderPart(content.text, values) : htmlToText(html),
    };
  });
}

/** Renders only the subject, on one line, for events. @throws TemplateError */
export function renderSubject(content: CompiledContent, input: RenderInput): string {
  return limitIfCostly(content, () => toSingleLine(renderPart(content.subject, toValues(content, input, 'subject'))));
}

/**
 * Compiles and renders only a subject, for the record of an email. The result is marked as untrusted if the subject
 * reads an untrusted value.
 * @throws TemplateError
 */
export function renderSubjectOf(subject: string, vars: Sourced<LiquidScope>): SourcedValue<string> {
  const content = compileContent(toContentSource({ ...NO_TEXT, subject, type: 'TRANSACTIONAL' }, false));
  const value = renderSubject(content, { vars, urls: { baseUrl: '', track: '', manage: '' } });
  return { value, untrusted: findUsedNames(content, vars.untrusted).length > 0 };
}

/**
 * Renders the whole message for the wire, as a string with one character per byte: ASCII except for international
 * addresses, CRLF, no line over 998 octets, no line that starts with a dot, and a body in DKIM's relaxed canonical
 * form. No value can add a header.
 * @throws TemplateError
 */
export function renderMime(content: CompiledContent, input: RenderInput & { headers: MessageHeaders }): string {
  const values = toValues(content, input);
  return limitIfCostly(content, () => {
    const subject = formatTextHeader('Subject', renderPart(content.subject, toValues(content, input, 'subject')));
    return (
      renderHeaderLines(content, input.headers, input.urls, subject) +
      fillWireBody(getWireBody(content, values), values)
    );
  });
}

/**
 * Returns the headers of RFC 8058 (one-click unsubscribe). Empty if the content needs no such headers or `mailto` is
 * null.
 */
export function buildListUnsubscribeHeaders(
  content: Pick<CompiledContent, 'needsUnsubscribe'>,
  urls: MessageUrls,
  mailto?: string | null,
): [name: string, value: string][] {
  if (!content.needsUnsubscribe || mailto === null) return [];
  const also = mailto ? `, <mailto:${formatAddress(mailto)}>` : '';
  return [
    ['List-Unsubscribe', `<${buildUnsubscribeUrl(urls.baseUrl, urls.manage)}>${also}`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

function compileParts(source: ContentSource, options: { whole: boolean }): CompiledContent {
  const prepared = prepareContent(source);
  return {
    links: prepared.links,
    variables: listDataNames(prepared),
    needsUnsubscribe: prepared.needsUnsubscribe,
    costly: prepared.costly || prepared.text === undefined,
    subject: cutTemplate(prepared.subject, 'plain', options),
    html: cutTemplate(prepared.html, 'html', options),
    text: prepared.text === undefined ? undefined : cutText(prepared.text, options),
    wire: undefined,
  };
}

function cutText(text: string, options: { whole: boolean }): Part | undefined {
  try {
    return cutTemplate(text, 'plain', options);
  } catch {
    return undefined; // A block is closed in the HTML, but not in its text. The text is then derived from each rendered HTML.
  }
}

function listDataNames({ variables }: PreparedContent): string[] | '*' {
  const names = new Set(variables.map((path) => getDataName(path)));
  if (names.has('*')) return '*';
  for (const own of ['id', 'email', ...URL_VARIABLES]) names.delete(own);
  return [...names].sort();
}

const NO_NAMES: readonly string[] = [];

function toValues(content: CompiledContent, { vars, urls }: RenderInput, context: Values['context'] = 'text'): Values {
  const { values, untrusted } = vars;
  const used = untrusted.size > 0 ? findUsedNames(content, untrusted) : NO_NAMES;
  return { vars: values, urls, untrusted: used, context, clicks: content.links.length };
}

/**
 * Returns the untrusted names that the templates read. Returns all untrusted names if a template defines its own names
 * in a way that hides which values it reads.
 */
function findUsedNames({ variables }: CompiledContent, untrusted: ReadonlySet<string>): string[] {
  return variables === '*' ? [...untrusted] : variables.filter((name) => untrusted.has(name));
}

function limitIfCostly<T>({ costly }: CompiledContent, work: () => T): T {
  return costly ? runWithTemplateLimit(work) : work();
}

/**
 * Returns the encoded body with its holes. The result is cached in the content, because a process has only one base
 * URL. If the text part must be derived from each rendered email, the body is encoded for each email.
 */
function getWireBody(content: CompiledContent, values: Values): WireBody {
  if (!content.text) {
    const text = htmlToText(renderPart(content.html, values));
    return compileWireBody({ escaping: 'plain', pieces: [text] }, content.html, values.urls.baseUrl);
  }
  if (content.wire?.baseUrl !== values.urls.baseUrl)
    content.wire = compileWireBody(content.text, content.html, values.urls.baseUrl);
  return content.wire;
}

/** Returns the header lines, each with a single space as in DKIM's relaxed form, and folded only if necessary. */
function renderHeaderLines(
  content: CompiledContent,
  headers: MessageHeaders,
  urls: MessageUrls,
  subject: string,
): string {
  let lines = formatMailboxHeader('From', headers.from) + formatMailboxHeader('To', headers.to);
  if (headers.cc?.length) lines += formatMailboxesHeader('Cc', headers.cc);
  if (headers.replyTo) lines += formatMailboxesHeader('Reply-To', [headers.replyTo].flat());
  lines += `${subject}Message-ID: ${headers.messageId}\r\nDate: ${formatMailDate(headers.date)}\r\n`;
  for (const [name, value] of buildListUnsubscribeHeaders(content, urls, headers.listUnsubscribe))
    lines += `${name}: ${value}\r\n`;
  for (const [name, value] of headers.extra ?? [])
    if (!isServiceHeader(name, lines)) lines += formatTextHeader(name, value);
  return lines;
}

/**
 * Tells whether only the service may write a header. A second header of the same name would make the message ambiguous.
 */
function isServiceHeader(name: string, lines: string): boolean {
  if (isReservedMailHeader(name) || /^(?:content-(?!language$).*|dkim-.*|mime-version|bcc)$/i.test(name)) return true;
  return lines
    .toLowerCase()
    .split('\r\n')
    .some((line) => line.startsWith(`${name.toLowerCase()}:`));
}
