import pg from 'pg';
import type { Logger } from 'pino';
import { findKeyAccess, type KeyAccess, updateKeysLastUsed } from '../db/access.ts';
import type { Db } from '../db/connection.ts';
import { hashKey, isKeyShaped } from '../domain/api-keys.ts';

/** More keys than are in use at a time; beyond it the oldest entry goes. */
const MAX_ENTRIES = 10_000;
/** An entry is read again after this, so that nothing unheard of lasts. */
const ENTRY_TTL_MS = 30_000;
/** The listening connection is asked this often whether it lives; a cut cable must not keep a revoked key alive. */
const HEARTBEAT_MS = 2_000;
const RECONNECT_MS = 500;
/** `last_used_at` is written in batches: a second is exact enough for people. */
const LAST_USED_FLUSH_MS = 1_000;

export interface KeyCache {
  /** What a key opens, from memory where that is safe; undefined when it is unknown, revoked or expired. */
  find(key: string): Promise<KeyAccess | undefined>;
  /** Forgets everything at once; for the process that changed a key itself, before it answers. */
  forget(): void;
  close(): Promise<void>;
}

interface Entry {
  access: KeyAccess;
  readAtMs: number;
}

/**
 * Keys in memory, forgotten at once on every API process when a key or project changes: triggers NOTIFY `access_changed`.
 * It fails closed: while the listening connection is down, each request asks the database. Source: decisions §2.
 */
export function createKeyCache(deps: { db: Db; databaseUrl: string; log: Logger }): KeyCache {
  const entries = new Map<string, Entry>();
  const used = new Set<string>();
  // A look-up that was under way when something changed may hold the old row: it is answered and not kept.
  let generation = 0;
  const forget = (): void => {
    generation += 1;
    entries.clear();
  };
  const listener = listen(deps.databaseUrl, deps.log, forget);
  const flushing = setInterval(() => void flushLastUsed(), LAST_USED_FLUSH_MS);
  flushing.unref();

  async function flushLastUsed(): Promise<void> {
    if (used.size === 0) return;
    const ids = [...used];
    used.clear();
    await updateKeysLastUsed(deps.db, ids).catch((error: unknown) => {
      deps.log.warn({ reason: String(error) }, 'the last use of keys could not be noted');
    });
  }

  async function lookUp(key: string): Promise<KeyAccess | undefined> {
    const asOf = generation;
    const access = await findKeyAccess(deps.db, hashKey(key));
    if (access && listener.live() && asOf === generation) {
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
      const fresh = entry && nowMs - entry.readAtMs < ENTRY_TTL_MS && listener.live();
      const access = fresh ? entry.access : await lookUp(key);
      if (!access || (access.expiresAtMs !== null && access.expiresAtMs <= nowMs)) return undefined;
      if (access.keyId) used.add(access.keyId);
      return access;
    },
    forget,
    async close() {
      clearInterval(flushing);
      await listener.close();
      await flushLastUsed();
    },
  };
}

/** Keeps one connection on LISTEN; `changed` is called at every word, and whenever words may have been missed. */
function listen(databaseUrl: string, log: Logger, changed: () => void) {
  let client: pg.Client | undefined;
  let live = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function lost(which: pg.Client): void {
    if (client !== which) return;
    client = undefined;
    live = false;
    changed();
    // A broken connection may wait for the network in end(); nobody waits for that.
    which.end().catch(() => {});
    if (!closed) timer = setTimeout(() => void open(), RECONNECT_MS);
  }

  async function open(): Promise<void> {
    if (closed) return;
    const next = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'tidings-api-listen',
      connectionTimeoutMillis: 5_000,
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
    });
    client = next;
    next.on('error', () => lost(next));
    next.on('end', () => lost(next));
    next.on('notification', changed);
    try {
      await next.connect();
      await next.query('LISTEN access_changed');
      changed();
      live = true;
      beat(next);
    } catch (error) {
      log.warn({ reason: String(error) }, 'key changes cannot be heard; every request reads its key until they can');
      lost(next);
    }
  }

  function beat(which: pg.Client): void {
    if (closed || client !== which) return;
    timer = setTimeout(() => {
      which.query('SELECT 1').then(
        () => beat(which),
        () => lost(which),
      );
    }, HEARTBEAT_MS);
    timer.unref();
  }

  void open();
  return {
    live: () => live,
    async close() {
      closed = true;
      live = false;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
