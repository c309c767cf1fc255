import type { Logger } from 'pino';
import type { Db } from '../../db/connection.ts';
import { listen } from '../../db/listen.ts';
import { findKeyAccess, type KeyAccess, updateKeysLastUsed } from '../../db/projects/access.ts';
import { hashKey, isKeyShaped } from '../../rules/access/api-keys.ts';
import { describeFailure } from '../../rules/failure-text.ts';

/** Maximum number of cached keys, which should exceed the number of used keys. A full cache drops its oldest key. */
const MAX_ENTRIES = 10_000;
/** Entries are read again after this time, in case a notification was missed. */
const ENTRY_TTL_MS = 30_000;
/**
 * Interval at which the connection that receives notifications of changed keys is checked. While this connection is
 * down, every request reads its key from the database.
 */
const HEARTBEAT_MS = 5_000;
/** Interval at which `last_used_at` of the used keys is written, in one statement. This precision is enough. */
const LAST_USED_FLUSH_MS = 5_000;

export interface KeyCache {
  /**
   * Returns the access that a key grants, from memory if the cached entry is up to date. Undefined if the key is
   * unknown, revoked or expired.
   */
  find(key: string): Promise<KeyAccess | undefined>;
  /** Deletes all entries. If this process itself has changed a key or a project, call it before the response. */
  clear(): void;
  close(): Promise<void>;
}

interface Entry {
  access: KeyAccess;
  readAtMs: number;
}

/**
 * Creates a cache of API keys. Triggers send NOTIFY `access_changed` when a key or a project changes, and every API
 * process then clears its cache. While the connection that receives the notifications is down, the cache is not used,
 * and each request queries the database. Source: contract §2.1 Secret keys.
 */
export function createKeyCache(deps: { db: Db; databaseUrl: string; log: Logger }): KeyCache {
  const entries = new Map<string, Entry>();
  const used = new Set<string>();
  // Increased whenever the cache is cleared. A lookup that runs while a key changes may return the old row. So a result
  // is not cached if `generation` has changed during its lookup.
  let generation = 0;
  const clear = (): void => {
    generation += 1;
    entries.clear();
  };
  const listener = listen({
    databaseUrl: deps.databaseUrl,
    channel: 'access_changed',
    applicationName: 'tidings-api-listen',
    log: deps.log,
    downMessage: 'notifications of key changes are down; every request queries its key until they are back',
    heartbeatMs: HEARTBEAT_MS,
    onNotification: clear,
  });
  const flushing = setInterval(() => void flushLastUsed(), LAST_USED_FLUSH_MS);
  flushing.unref();

  async function flushLastUsed(): Promise<void> {
    if (used.size === 0) return;
    const ids = [...used];
    used.clear();
    await updateKeysLastUsed(deps.db, ids).catch((error: unknown) => {
      deps.log.warn({ reason: describeFailure(error) }, 'the last use of keys could not be recorded');
    });
  }

  async function lookUp(key: string): Promise<KeyAccess | undefined> {
    const startGeneration = generation;
    const access = await findKeyAccess(deps.db, hashKey(key));
    if (access && listener.isLive() && startGeneration === generation) {
      if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value ?? '');
      entries.set(key, { access, readAtMs: Date.now() });
    }
    return access;
  }

  return {
    async find(key) {
      if (!isKeyShaped(key)) return undefined;
      const nowMs = Date.now();
      const entry = entries.get(key);
      const isFresh = entry && nowMs - entry.readAtMs < ENTRY_TTL_MS && listener.isLive();
      const access = isFresh ? entry.access : await lookUp(key);
      if (!access || (access.expiresAtMs !== null && access.expiresAtMs <= nowMs)) return undefined;
      if (access.keyId) used.add(access.keyId);
      return access;
    },
    clear,
    async close() {
      clearInterval(flushing);
      await listener.close();
      await flushLastUsed();
    },
  };
}
