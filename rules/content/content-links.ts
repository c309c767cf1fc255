import type { Template } from 'liquidjs';
import { Lru } from '../lru.ts';
import type { Sourced } from '../provenance/provenance.ts';
import type { LinkValue } from './content-html.ts';
import { guardExpression, listExpressionNames, URL_VARIABLES } from './content-names.ts';
import { type LiquidScope, parseWholeTemplate, renderNodes, runWithTemplateLimit } from './liquid.ts';
import { type FlatToken, tokenize } from './liquid-tokens.ts';
import { parsePlainExpression } from './plain-expression.ts';

/**
 * Matches an address with a literal scheme and host, up to a character that ends the host. The rest of the address
 * cannot change the host.
 */
const CONSTANT_HOST = /^https?:\/\/[^/?#\\\s]+(?=[/?#])/i;
const WHOLE_CONSTANT = /^https?:\/\/[^/?#\\\s]+/i;

/**
 * Names from `listExpressionNames` that have no value when a link is clicked. `*` stands for names that are unknown or
 * defined in the template. The other names are the counters of a loop.
 */
const LOOP_ONLY = new Set(['*', 'forloop', 'tablerowloop']);

/**
 * Returns the address of a link in the form that is stored for click tracking, with Liquid in path and query. The
 * service renders this Liquid when the link is clicked. Undefined for links that are not tracked. These are anchors,
 * links with another scheme, and links with a variable in scheme or host. Links with Liquid blocks are not tracked
 * either, nor links with names that exist only inside the template, such as the item of a loop. Source: contract §9.3
 * Links.
 */
export function findTrackedAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const [first] = link.parts;
  if (typeof first !== 'string') return undefined;
  if (!(link.parts.length === 1 ? WHOLE_CONSTANT : CONSTANT_HOST).test(first.trimStart())) return undefined;
  return joinAddress(link, locals, (name) => LOOP_ONLY.has(name));
}

/**
 * Returns the address of a link that is one variable, such as `href="{{ url }}"`. Undefined for other links, for links
 * of the service, and for names that exist only inside the template. Whether the link is tracked depends on the
 * variable's value.
 */
export function findVariableAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const written = link.parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  return written.length === 1 ? findComposedAddress(link, locals) : undefined;
}

/** Matches an address whose scheme or host comes from variables. Each Liquid output is replaced by a NUL character. */
const COMPOSED = /^(?:https?:\/\/[^/?#\\\s\0]*)?\0/i;

/**
 * Returns the address of a link whose scheme or host comes from variables, such as `{{ base }}/orders/{{ id }}` or
 * `https://{{ shop }}.example.com/`. Undefined for other links. As with `findVariableAddress`, the values of the
 * variables determine whether the link is tracked.
 */
export function findComposedAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  if (!COMPOSED.test(toOutline(link))) return undefined;
  return joinAddress(link, locals, (name) => LOOP_ONLY.has(name) || isOwnName(name));
}

/**
 * Joins the parts of a link to a template. Undefined if the address contains a Liquid block, or an output with a
 * refused name.
 */
function joinAddress(
  link: LinkValue,
  locals: ReadonlySet<string>,
  isRefused: (name: string) => boolean,
): string | undefined {
  let address = '';
  for (const part of link.parts) {
    if (typeof part === 'string') {
      if (/\{[{%]/.test(part)) return undefined;
      address += part;
    } else {
      if (part.kind !== 'output' || listExpressionNames(part.content, locals).some(isRefused)) return undefined;
      address += `{{ ${part.content} }}`;
    }
  }
  return address.trim();
}

function toOutline({ parts }: LinkValue): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : '\0'))
    .join('')
    .trimStart();
}

function isOwnName(name: string): boolean {
  return (URL_VARIABLES as readonly string[]).includes(name);
}

/**
 * Renders the target of a stored link for one message. The target is always http or https, and has the host that the
 * author wrote, unless the host comes from variables. Untrusted values are rendered as empty text. Undefined if the
 * result is not a web address.
 */
export function resolveLink(link: string, vars: Sourced<LiquidScope>): string | undefined {
  if (!link.includes('{{')) return toLocation(link);
  const ready = prepareLink(link);
  const scope = { ...vars.values, __untrusted: [...vars.untrusted] };
  const render = () => renderNodes(ready.nodes, 'plain', scope);
  const address = ready.costly ? runWithTemplateLimit(render) : render();
  return ready.isAddress(address) ? toLocation(address) : undefined;
}

/** A stored link with variables, parsed. */
interface ReadyLink {
  /**
   * Tells whether the rendered address has the host that the author wrote, or any host if the host comes from
   * variables.
   */
  isAddress: (address: string) => boolean;
  nodes: Template[];
  /**
   * True if the link must be rendered with a time limit, which takes longer than all other work for a click.
   */
  costly: boolean;
}

/**
 * The maximum number of parsed links in memory, a few kB each. Parsed links are kept because parsing a link takes
 * longer than rendering it.
 */
const LINKS_MAX = 1_000;
/** The maximum number of plain variables to render without a time limit. Each takes about a microsecond. */
const PLAIN_MAX = 100;
const readyLinks = new Lru<string, ReadyLink>(LINKS_MAX);

function prepareLink(link: string): ReadyLink {
  const cached = readyLinks.get(link);
  if (cached) return cached;
  const tokens = tokenize(link);
  const host = CONSTANT_HOST.exec(link)?.[0];
  const isAddress = (address: string) => (host === undefined ? hasHost(address) : address.startsWith(host));
  const outputs = tokens.filter(({ kind }) => kind === 'output');
  const costly = outputs.length > PLAIN_MAX || !outputs.every(isPlain);
  const parse = () => parseWholeTemplate(guardAddress(link), 'plain');
  const ready = { isAddress, nodes: costly ? runWithTemplateLimit(parse) : parse(), costly };
  readyLinks.set(link, ready);
  return ready;
}

/**
 * Tells whether a rendered address is http or https and has a host. Without a host, browsers would use the first part
 * of the path as the host.
 */
function hasHost(address: string): boolean {
  return WHOLE_CONSTANT.test(address.trimStart());
}

function isPlain({ content }: FlatToken): boolean {
  return parsePlainExpression(content) !== undefined;
}

function guardAddress(link: string): string {
  return tokenize(link)
    .map((token) =>
      token.kind === 'output'
        ? `{{ ${guardExpression(token.content, 'address', new Map())} }}`
        : link.slice(token.begin, token.end),
    )
    .join('');
}

/**
 * Returns the address as written if it can be in a Location header, else in the normalized form of the URL standard.
 */
function toLocation(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  return /^[!-~]+$/.test(address) ? address : url.href;
}
