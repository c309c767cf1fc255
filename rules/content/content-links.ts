import type { Template } from 'liquidjs';
import { Lru } from '../lru.ts';
import type { Sourced } from '../provenance/provenance.ts';
import type { LinkValue } from './content-html.ts';
import { guardExpression, outputNames, URL_VARIABLES } from './content-names.ts';
import { type LiquidScope, parseGuarded, renderBounded, renderNodes } from './liquid.ts';
import { type FlatToken, flatTokens } from './liquid-tokens.ts';
import { plainExpression } from './plain-expression.ts';

/** Scheme and host are literal, and the host has ended, so the rest cannot lead to another host. */
const CONSTANT_HOST = /^https?:\/\/[^/?#\\\s]+(?=[/?#])/i;
const WHOLE_CONSTANT = /^https?:\/\/[^/?#\\\s]+/i;

/** Names that are unknown when a link is clicked: local names, and the counters of a loop. */
const LOOP_ONLY = new Set(['*', 'forloop', 'tablerowloop']);

/**
 * The address of a link as it is stored for click tracking, Liquid in path and query included; undefined when it is
 * not tracked: other schemes, anchors, a variable as part of scheme or host, blocks in the address, or names that
 * exist only inside the template (a loop's item), since the link is resolved when it is clicked. Source: contract
 * §9.3 Links.
 */
export function trackedAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const [first] = link.parts;
  if (typeof first !== 'string') return undefined;
  if (!(link.parts.length === 1 ? WHOLE_CONSTANT : CONSTANT_HOST).test(first.trimStart())) return undefined;
  let address = '';
  for (const part of link.parts) {
    if (typeof part === 'string') {
      if (/\{[{%]/.test(part)) return undefined;
      address += part;
    } else {
      if (part.kind !== 'output' || outputNames(part.content, locals).some((name) => LOOP_ONLY.has(name)))
        return undefined;
      address += `{{ ${part.content} }}`;
    }
  }
  return address.trim();
}

/**
 * The expression of a link that is one variable, such as `href="{{ url }}"`; undefined for other links, for the links of
 * the service, and for names that exist only inside the template. Its value decides whether the link is tracked.
 */
export function variableAddress(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const [output, ...others] = link.parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  if (output === undefined || typeof output === 'string' || others.length > 0 || output.kind !== 'output')
    return undefined;
  const names = outputNames(output.content, locals);
  const isOwn = URL_VARIABLES.some((own) => names.includes(own));
  return isOwn || names.some((name) => LOOP_ONLY.has(name)) ? undefined : output.content;
}

/** Matches the fixed text behind a base address: path, query or fragment, without the quotes and braces of Liquid. */
const AFTER_BASE = /^[/?#][^"{}]*$/;
/** Matches the fixed text behind the variable part of a host. */
const AFTER_HOST = /^[.:/?#][^"{}]*$/;
const SCHEME = /^https?:\/\/$/i;

/**
 * The expression of a link that is one variable with fixed text around it: a base with a path behind it
 * (`{{ base }}/orders`), or a host (`https://{{ shop }}.example.com/orders`). Undefined for other links. As with
 * `variableAddress`, its value decides whether the link is tracked.
 */
export function addressAroundVariable(link: LinkValue, locals: ReadonlySet<string>): string | undefined {
  const parts = link.parts.filter((part) => typeof part !== 'string' || part.trim() !== '');
  const [scheme, base, rest, ...more] = typeof parts[0] === 'string' ? parts : ['', ...parts];
  if (base === undefined || more.length > 0 || typeof scheme !== 'string') return undefined;
  if (rest !== undefined && typeof rest !== 'string') return undefined;
  const before = scheme.trimStart();
  const after = rest?.trimEnd() ?? '';
  if (before === '' ? !AFTER_BASE.test(after) : !SCHEME.test(before)) return undefined;
  if (before !== '' && after !== '' && !AFTER_HOST.test(after)) return undefined;
  const expression = variableAddress({ ...link, parts: [base] }, locals);
  if (expression === undefined) return undefined;
  const prepended = before === '' ? '' : ` | prepend: "${before}"`;
  return `${expression}${prepended}${after === '' ? '' : ` | append: "${after}"`}`;
}

/**
 * Returns the target of a stored link for this message. It is always http(s), and always the author's host unless the
 * link is one variable. Untrusted values are left empty. Undefined if the result is not an address.
 */
export function resolveLink(link: string, vars: Sourced<LiquidScope>): string | undefined {
  if (!link.includes('{{')) return locationOf(link);
  const ready = readyLink(link);
  if (!ready) return undefined;
  const scope = { ...vars.values, __untrusted: [...vars.untrusted] };
  const render = () => renderNodes(ready.nodes, 'plain', scope);
  const address = ready.costly ? renderBounded(render) : render();
  return address.startsWith(ready.host) ? locationOf(address) : undefined;
}

/** A stored link with variables, parsed. */
interface ReadyLink {
  host: string;
  nodes: Template[];
  /** Rendered within the outer bound, which costs more than all the rest of a click. */
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

function readyLink(link: string): ReadyLink | undefined {
  const kept = readyLinks.get(link);
  if (kept) return kept;
  const tokens = flatTokens(link);
  const isVariable = tokens.length === 1 && tokens[0]?.kind === 'output';
  const host = isVariable ? '' : CONSTANT_HOST.exec(link)?.[0];
  if (host === undefined) return undefined;
  const outputs = tokens.filter(({ kind }) => kind === 'output');
  const costly = outputs.length > PLAIN_MAX || !outputs.every(isPlain);
  const parse = () => parseGuarded(guardAddress(link), 'plain');
  const ready = { host, nodes: costly ? renderBounded(parse) : parse(), costly };
  readyLinks.set(link, ready);
  return ready;
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
