import { distance } from 'fastest-levenshtein';

/** The existing paths with their methods. Distinguishes a wrong method (405) from a wrong path (404). */
export interface RouteTable {
  add(method: string, path: string): void;
  /** Returns the methods that a requested path accepts. Empty if the path does not exist. */
  listMethods(path: string): string[];
  /**
   * Returns the existing path that is most similar to a requested path that does not exist. Undefined if no path is
   * similar enough.
   */
  findNearestPath(path: string): string | undefined;
  /**
   * Returns the operation of this API, as method and path, that does the same as an operation of another service's API.
   */
  findEquivalent(method: string, path: string): string | undefined;
  /**
   * Returns the path that lists records of the kind that the first id in `path` identifies: `/contacts` for
   * `/contacts/{id}/events`. Undefined without an id in `path`, or if no GET lists these records.
   */
  findListPath(path: string): string | undefined;
}

interface PathEntry {
  pattern: RegExp;
  parameters: number;
  methods: Set<string>;
}

/**
 * Requested paths that are longer are not compared with the existing paths. They are not typos of an existing path, and
 * the time for a comparison grows with the product of both lengths.
 */
const COMPARED_MAX_CHARS = 120;
/**
 * Operations of Resend, Postmark, SendGrid, Loops, Mailgun and Customer.io, without the version, and for each the
 * operation of this API that does the same.
 */
const FOREIGN_OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['POST emails', 'POST /v1/send'],
  ['POST email', 'POST /v1/send'],
  ['POST send/email', 'POST /v1/send'],
  ['POST mail/send', 'POST /v1/send'],
  ['POST transactional', 'POST /v1/send'],
  ['POST messages', 'POST /v1/send'],
  ['POST emails/batch', 'POST /v1/send/batch'],
  ['POST email/batch', 'POST /v1/send/batch'],
  ['POST events', 'POST /v1/track'],
  ['POST events/send', 'POST /v1/track'],
  ['POST contacts/create', 'POST /v1/contacts'],
]);

/** If a requested path has more wrong letters than this, no path is suggested. */
const MAX_TYPING_ERRORS = 2;

export function createRouteTable(): RouteTable {
  const paths = new Map<string, PathEntry>();
  return {
    add(method, path) {
      const entry = paths.get(path) ?? createPathEntry(path);
      entry.methods.add(method.toUpperCase());
      if (method.toLowerCase() === 'get') entry.methods.add('HEAD');
      paths.set(path, entry);
    },
    listMethods(path) {
      const matching = [...paths.values()].filter((entry) => entry.pattern.test(path));
      // `/contacts/fields` also matches `/contacts/{id}`, but accepts only its own methods.
      const fewest = Math.min(...matching.map(({ parameters }) => parameters));
      const mostSpecific = matching.filter(({ parameters }) => parameters === fewest);
      return [...new Set(mostSpecific.flatMap((entry) => [...entry.methods]))].sort();
    },
    findNearestPath(path) {
      if (path.length > COMPARED_MAX_CHARS) return undefined;
      const ranked = [...paths.keys()].map((existing) => ({ existing, errors: countTypingErrors(path, existing) }));
      const nearest = ranked.reduce((best, one) => (one.errors < best.errors ? one : best), {
        existing: '',
        errors: MAX_TYPING_ERRORS + 1,
      });
      return nearest.errors <= MAX_TYPING_ERRORS ? nearest.existing : undefined;
    },
    findEquivalent(method, path) {
      return FOREIGN_OPERATIONS.get(`${method} ${splitPath(path).parts.join('/')}`);
    },
    findListPath(path) {
      const [list = path] = path.split('/{');
      return list !== path && paths.get(list)?.methods.has('GET') ? list : undefined;
    },
  };
}

function createPathEntry(path: string): PathEntry {
  return { pattern: toPattern(path), parameters: path.match(/\{|\*/g)?.length ?? 0, methods: new Set() };
}

/** Converts a path to a pattern. `{id}` matches one segment; a final `*` matches the rest. */
function toPattern(path: string): RegExp {
  const [, fixed = path, rest] = /^(.*\/)(\*)$/.exec(path) ?? [];
  const parts = fixed.split(/\{.+?\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}${rest ? '.*' : ''}$`);
}

/** Counts the wrong letters in a requested path. A wrong or missing version counts as one letter. */
function countTypingErrors(requestedPath: string, existingPath: string): number {
  const [requested, existing] = [splitPath(requestedPath), splitPath(existingPath)];
  // `/` is the dashboard. It is never a useful suggestion for `/v1`.
  if (existing.parts.length === 0) return Number.POSITIVE_INFINITY;
  if (requested.parts.length !== existing.parts.length) return Number.POSITIVE_INFINITY;
  return existing.parts.reduce(
    (sum, part, i) => sum + (part.startsWith('{') ? 0 : distance(requested.parts[i] ?? '', part)),
    requested.versioned === existing.versioned ? 0 : 1,
  );
}

/** Splits a path into its segments, without the version, and without the `/api` prefix that other services use. */
function splitPath(path: string): { parts: string[]; versioned: boolean } {
  const parts = path.toLowerCase().split('/').filter(Boolean);
  if (parts[0] === 'api' && parts.length > 1) parts.shift();
  const versioned = /^v\d+$/.test(parts[0] ?? '');
  return { parts: versioned ? parts.slice(1) : parts, versioned };
}
