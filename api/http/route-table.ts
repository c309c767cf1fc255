import { distance } from 'fastest-levenshtein';

/** The paths that exist with their methods, to tell a wrong method (405) from a wrong path (404). */
export interface RouteTable {
  add(method: string, path: string): void;
  /** The methods that a path of a request takes; empty when there is no such path. */
  methodsOf(path: string): string[];
  /** The path that is nearest to one which does not exist; undefined when none is near. */
  nearestTo(path: string): string | undefined;
}

interface Known {
  pattern: RegExp;
  parameters: number;
  methods: Set<string>;
}

/** Longer paths are no typos of a known path, and comparing two paths costs the product of their lengths. */
const COMPARED_MAX_CHARS = 120;
/** Typing errors of a path that still show which one was meant. */
const NEAR = 2;

export function createRouteTable(): RouteTable {
  const paths = new Map<string, Known>();
  return {
    add(method, path) {
      const known = paths.get(path) ?? newlyKnown(path);
      known.methods.add(method.toUpperCase());
      if (method.toLowerCase() === 'get') known.methods.add('HEAD');
      paths.set(path, known);
    },
    methodsOf(path) {
      const matching = [...paths.values()].filter((known) => known.pattern.test(path));
      // `/contacts/fields` has the shape of `/contacts/{id}` too, but takes its own methods only.
      const fewest = Math.min(...matching.map(({ parameters }) => parameters));
      const own = matching.filter(({ parameters }) => parameters === fewest);
      return [...new Set(own.flatMap((known) => [...known.methods]))].sort();
    },
    nearestTo(path) {
      if (path.length > COMPARED_MAX_CHARS) return undefined;
      const ranked = [...paths.keys()].map((known) => ({ known, errors: typingErrors(path, known) }));
      const nearest = ranked.reduce((best, one) => (one.errors < best.errors ? one : best), {
        known: '',
        errors: NEAR + 1,
      });
      return nearest.errors <= NEAR ? nearest.known : undefined;
    },
  };
}

function newlyKnown(path: string): Known {
  return { pattern: patternOf(path), parameters: path.match(/\{|\*/g)?.length ?? 0, methods: new Set() };
}

/** `{id}` is one part of a path, `*` at its end all that comes. */
function patternOf(path: string): RegExp {
  const [, fixed = path, rest] = /^(.*\/)(\*)$/.exec(path) ?? [];
  const parts = fixed.split(/\{.+?\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}${rest ? '.*' : ''}$`);
}

/** How many letters of an asked path are wrong; a wrong or missing version counts as one. */
function typingErrors(asked: string, known: string): number {
  const [one, other] = [partsOf(asked), partsOf(known)];
  if (one.parts.length !== other.parts.length) return Number.POSITIVE_INFINITY;
  return other.parts.reduce(
    (sum, part, i) => sum + (part.startsWith('{') ? 0 : distance(one.parts[i] ?? '', part)),
    one.versioned === other.versioned ? 0 : 1,
  );
}

/** The parts of a path without its version, and without the `/api` that other services have before theirs. */
function partsOf(path: string): { parts: string[]; versioned: boolean } {
  const parts = path.toLowerCase().split('/').filter(Boolean);
  if (parts[0] === 'api' && parts.length > 1) parts.shift();
  const versioned = /^v\d+$/.test(parts[0] ?? '');
  return { parts: versioned ? parts.slice(1) : parts, versioned };
}
