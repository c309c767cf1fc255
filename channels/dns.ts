import { Resolver } from 'node:dns/promises';
import type { Dns, DnsAnswer, MxRecord } from '../rules/domains/dns.ts';
import { Lru } from '../rules/lru.ts';

/** The time limit of a DNS lookup (contract §10.4 Verification). */
const LOOKUP_MS = 3_000;
/**
 * The time limit of the first of `ATTEMPTS` attempts. The resolver (c-ares) waits longer in the second attempt, but
 * both attempts at one server fit into `LOOKUP_MS`.
 */
const ATTEMPT_MS = 900;
const ATTEMPTS = 2;
/**
 * How long a found record is cached. An import with many addresses of one domain then needs only one lookup, and a
 * corrected record is still noticed soon.
 */
const FOUND_MS = 5 * 60_000;
const ABSENT_MS = 60_000;
const CACHED_NAMES = 10_000;
/**
 * Error codes of the resolver: `NO_NAME` means that the name does not exist, `NO_RECORD` that it has no record of this
 * type.
 */
const NO_NAME = new Set(['ENOTFOUND', 'EBADNAME']);
const NO_RECORD = new Set(['ENODATA']);

interface Cached {
  result: Promise<DnsAnswer<unknown>>;
  expiresAtMs: number;
}

/**
 * Creates a DNS client that queries `servers`, such as `127.0.0.1:5353`, or the system's servers if the list is empty.
 * With `cached`, found records are cached for 5 minutes and absent records for 1 minute, and concurrent queries of the
 * same name and type share one lookup. Failures are not cached.
 */
export function createDns(options: { servers: readonly string[]; cached: boolean }): Dns {
  const given = options.servers.length > 0 ? createResolver(options.servers) : undefined;
  // A resolver reads the system's servers only once, and they may change while the service runs.
  const getResolver = () => given ?? createResolver();
  const cache = new Lru<string, Cached>(CACHED_NAMES);

  function lookUp<T>(type: string, name: string, query: () => Promise<T[]>): Promise<DnsAnswer<T>> {
    if (!options.cached) return toDnsAnswer(query);
    const key = `${type} ${name.toLowerCase()}`;
    const cached = cache.get(key);
    if (cached && cached.expiresAtMs > Date.now()) return cached.result as Promise<DnsAnswer<T>>;
    const entry = { result: toDnsAnswer(query), expiresAtMs: Date.now() + LOOKUP_MS };
    cache.set(key, entry);
    void entry.result.then(({ kind }) => {
      const keepMs = kind === 'found' ? FOUND_MS : kind === 'absent' ? ABSENT_MS : 0;
      entry.expiresAtMs = Date.now() + keepMs;
    });
    return entry.result;
  }

  return {
    ns: (name) => lookUp('NS', name, () => getResolver().resolveNs(name)),
    mx: (name) => lookUp('MX', name, async () => (await getResolver().resolveMx(name)).map(toMxRecord)),
    txt: (name) =>
      lookUp('TXT', name, async () => (await getResolver().resolveTxt(name)).map((strings) => strings.join(''))),
    addresses: (name) =>
      lookUp('A', name, () => combineResults([getResolver().resolve4(name), getResolver().resolve6(name)])),
  };
}

function createResolver(servers: readonly string[] = []): Resolver {
  const resolver = new Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

async function toDnsAnswer<T>(query: () => Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const records = await withTimeLimit(LOOKUP_MS, query());
    return records.length > 0 ? { kind: 'found', records } : { kind: 'absent', nameExists: true };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (NO_NAME.has(code)) return { kind: 'absent', nameExists: false };
    if (NO_RECORD.has(code)) return { kind: 'absent', nameExists: true };
    return { kind: 'fault', reason: code === 'ETIMEOUT' ? 'no response in time' : `the response was ${code}` };
  }
}

/**
 * Returns the records of all successful queries together. If all queries failed, throws the first failure that is not
 * "no such name" or "no such record". If all failures are of these two kinds, throws the first "no such record", or
 * else "no such name".
 */
async function combineResults<T>(queries: Promise<T[]>[]): Promise<T[]> {
  const results = await Promise.allSettled(queries);
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (found.length > 0) return found;
  const reasons: unknown[] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const isNoRecord = (error: unknown) => error instanceof Error && 'code' in error && NO_RECORD.has(String(error.code));
  const isAbsent = (error: unknown) =>
    isNoRecord(error) || (error instanceof Error && 'code' in error && NO_NAME.has(String(error.code)));
  throw reasons.find((reason) => !isAbsent(reason)) ?? reasons.find(isNoRecord) ?? reasons[0];
}

function toMxRecord({ exchange, priority }: MxRecord): MxRecord {
  return { exchange: exchange.toLowerCase().replace(/\.$/, ''), priority };
}

function withTimeLimit<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeoutError = Object.assign(new Error('no answer in time'), { code: 'ETIMEOUT' });
    const timer = setTimeout(() => reject(timeoutError), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
