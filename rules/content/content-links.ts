import type { Template } from 'liquidjs';
import { Lru } from '../lru.ts';
import type { Sourced } from '../provenance/provenance.ts';
import type { LinkValue } from './content-html.ts';
import { guardExpression, outputNames, URL_VARIABLES } from './content-names.ts';
import { type LiquidScope, parseGuarded, renderBounded, renderNodes } from './liquid.ts';
import { type FlatToken, flatTokens } from './liquid-tokens.ts';
import { plainExpression } from './plain-expression.ts';

/** Matches an address with a literal scheme and host. The host has ended, so the rest cannot change it. */
const CONSTANT_HOST = /^https?:\/\/[^/?#\\\s]+(?=[/?#])/i;
const WHOLE_CONSTANT = /^https?:\/\/[^/?#\\\s]+/i;

/** Names that are unknown when a link is clicked: local names, and the counters of a loop. */
const LOOP_ONLY = new Set(['*', 'forloop', 'tablerowloop']);

/**
 * Returns the address of a link as stored for click tracking, with Liquid in path and query. Undefined for links that
 * are not tracked: other schemes, anchors, a variable in scheme or host, blocks in the address, and names that exist
 * only inside the template (such as a loop's item), because the link is resolved when it is clicked. Source: contract
 * §9.3 Links.
 */
export function trackedAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const [first] = link.parts;
  if (typeof first !== 'string') return undefined;
  if (!(link.parts.length === 1 ? WHOLE_CONSTANT : CONSTANT_HOST).test(first.trimStart())) return undefined;
  return writeAddress(link, locals, (name) => LOOP_ONLY.has(name));
}

/**
 * Returns the address of a link that is one variable, such as `href="{{ url }}"`. Undefined for other links, for links
 * of the service, and for names that exist only inside the template. The variable's value decides whether the link is
 * tracked.
 */
export function variableAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const written = link.parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  return written.length === 1 ? composedAddress(link, locals) : undefined;
}

/** Matches an address whose scheme or host comes from variables; each output is a NUL. */
const COMPOSED = /^(?:https?:\/\/[^/?#\\\s\0]*)?\0/i;

/**
 * Returns the address of a link whose scheme or host comes from variables, such as `{{ base }}/orders/{{ id }}` or
 * `https://{{ shop }}.example.com/`. Undefined for other links. As with `variableAddress`, the values decide whether
 * the link is tracked.
 */
export function composedAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  if (!COMPOSED.test(outline(link))) return undefined;
  return writeAddress(link, locals, (name) => LOOP_ONLY.has(name) || isOwnName(name));
}

/** Writes the address of a link with its outputs. Undefined if it has a block, or an output that uses a refused name. */
function writeAddress(
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
      if (part.kind !== 'output' || outputNames(part.content, locals).some(isRefused)) return undefined;
      address += `{{ ${part.content} }}`;
    }
  }
  return address.trim();
}

function outline({ parts }: LinkValue): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : '\0'))
    .join('')
    .trimStart();
}

function isOwnName(name: string): boolean {
  return (URL_VARIABLES as readonly string[]).includes(name);
}

/**
 * Returns the target of a stored link for this message. It is always http(s), and has the author's host unless the host
 * comes from variables. Untrusted values are empty. Undefined if the result is not an address.
 */
export function resolveLink(link: string, vars: Sourced<LiquidScope>): string | undefined {
  if (!link.includes('{{')) return locationOf(link);
  const ready = readyLink(link);
  const scope = { ...vars.values, __untrusted: [...vars.untrusted] };
  const render = () => renderNodes(ready.nodes, 'plain', scope);
  const address = ready.costly ? renderBounded(render) : render();
  return ready.isAddress(address) ? locationOf(address) : undefined;
}

/** A stored link with variables, parsed. */
interface ReadyLink {
  /** Whether the rendered address has the author's host, or at least a host. */
  isAddress: (address: string) => boolean;
  nodes: Template[];
  /** True if it must be rendered within the time limit, which costs more than everything else of a click. */
  costly: boolean;
}

/**
 * Number of parsed links to keep, a few kB each: the links that people click at the moment. Parsing a link takes
 * longer than rendering it.
 */
const LINKS_MAX = 1_000;
/** Plain variables take about a microsecond each. */
const PLAIN_MAX = 100;
const readyLinks = new Lru<string, ReadyLink>(LINKS_MAX);

function readyLink(link: string): ReadyLink {
  const kept = readyLinks.get(link);
  if (kept) return kept;
  const tokens = flatTokens(link);
  const host = CONSTANT_HOST.exec(link)?.[0];
  const isAddress = (address: string) => (host === undefined ? hasHost(address) : address.startsWith(host));
  const outputs = tokens.filter(({ kind }) => kind === 'output');
  const costly = outputs.length > PLAIN_MAX || !outputs.every(isPlain);
  const parse = () => parseGuarded(guardAddress(link), 'plain');
  const ready = { isAddress, nodes: costly ? renderBounded(parse) : parse(), costly };
  readyLinks.set(link, ready);
  return ready;
}

/**
 * Tells whether a rendered address is http(s) with a host. If the host is missing, browsers use the first part of the
 * path as host.
 */
function hasHost(address: string): boolean {
  return WHOLE_CONSTANT.test(address.trimStart());
}

function isPlain({ content }: FlatToken): boolean {
  return plainExpression(content) !== undefined;
}

function guardAddress(link: string): string {
  return flatTokens(link)
    .map((token) =>
      token.kind === 'output'
        ? `{{ ${guardExpression(token.content, 'address', new Map())} }}`
        : link.slice(token.begin, token.end),
    )
    .join('');
}

/** Returns the address as written if it can appear in a Location header, else in the form of the URL standard. */
function locationOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  return /^[!-~]+$/.test(address) ? address : url.href;
}
