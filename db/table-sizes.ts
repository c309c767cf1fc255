import type pg from 'pg';

/** Looked at by one connection, this often at most. */
const LOOK_MS = 1_000;
/** Below this a table is read whole as fast as by an index. */
const SMALL_BYTES = 65_536;
/** By how many times a table grows or shrinks until another plan may be the better one. */
const FACTOR = 2;
/**
 * What the planner itself looks at: between two ANALYZEs it knows nothing else of a table that changes. Both are one
 * transaction; who has to look is not to wait for somebody who has locked a table.
 */
const LOOK = `SET LOCAL lock_timeout = '20ms';
  SELECT oid::text AS id, pg_relation_size(oid) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::text::regnamespace`;

/**
 * Tells when plans are to be made anew. One that was made while a table was small reads all of it, and Postgres itself
 * would keep it until statistics are next collected, which takes up to a minute from when a burst begins. While no
 * table has changed much, the planner would only find the same plan again, which costs more than most of what it is
 * for.
 */
export class TableSizes {
  private readonly bytes = new Map<string, number>();
  private lookedAtMs = 0;
  private changes = 0;

  /** Changes whenever plans that were made before are out of date. */
  get generation(): number {
    return this.changes;
  }

  /** Looks where nobody has for a second. Never rejects. */
  async look(client: Pick<pg.PoolClient, 'query'>, nowMs: number = Date.now()): Promise<void> {
    if (nowMs - this.lookedAtMs < LOOK_MS) return;
    this.lookedAtMs = nowMs;
    const changed = (await sizesSeenBy(client)).filter(({ id, bytes }) => this.differs(id, bytes));
    if (changed.length === 0) return;
    this.changes += 1;
    for (const { id, bytes } of changed) this.bytes.set(id, bytes);
  }

  private differs(id: string, bytes: number): boolean {
    const planned = this.bytes.get(id);
    if (planned === undefined) return true;
    const ratio = Math.max(bytes, SMALL_BYTES) / Math.max(planned, SMALL_BYTES);
    return ratio >= FACTOR || ratio <= 1 / FACTOR;
  }
}

interface TableSize {
  id: string;
  bytes: number;
}

/** None where it fails: a connection that broke fails what is asked next as well, a lock is gone the next time. */
async function sizesSeenBy(client: Pick<pg.PoolClient, 'query'>): Promise<TableSize[]> {
  try {
    // Of a text with two statements the driver returns two results, which its type does not know.
    const results = (await client.query(LOOK)) as unknown as [unknown, pg.QueryResult<TableSize>];
    return results[1].rows;
  } catch {
    return [];
  }
}
