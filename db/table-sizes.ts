import type pg from 'pg';

/** Minimum time between two checks of the table sizes. */
const MIN_CHECK_INTERVAL_MS = 1_000;
/**
 * Minimum number of queries between two checks. A whole transaction counts as one query. With fewer queries, better
 * plans save nothing.
 */
const MIN_CHECK_INTERVAL_QUERIES = 20;
/** Below this size, reading the whole table is as fast as using an index. */
const SMALL_BYTES = 65_536;
/** If a table has grown or shrunk by this factor, another plan may be better. */
const CHANGE_FACTOR = 2;
/**
 * Reads the sizes that the planner uses. Between two ANALYZEs, the size is the only thing that the planner knows about
 * a changed table. SET and SELECT run in one transaction, and the short lock timeout prevents a wait for a locked
 * table.
 */
const READ_SIZES = `SET LOCAL lock_timeout = '20ms';
  SELECT oid::text AS id, pg_relation_size(oid) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::text::regnamespace`;

/**
 * Tells when statements must be planned again. A plan from a time when a table was small may read the whole table.
 * Postgres would keep this plan until it collects statistics, up to a minute after many rows are inserted. While no
 * table has changed much, planning again would only find the same plan, and would cost more than it saves.
 */
export class TableSizes {
  private readonly bytes = new Map<string, number>();
  private checkedAtMs = 0;
  private queries = MIN_CHECK_INTERVAL_QUERIES;
  private changes = 0;

  /** A number that changes whenever existing plans become outdated. */
  get generation(): number {
    return this.changes;
  }

  /**
   * Called each time a connection is taken from the pool, for one query or a transaction. Checks the table sizes if a
   * check is due. Never rejects.
   */
  async checkWhenDue(client: Pick<pg.PoolClient, 'query'>, nowMs: number = Date.now()): Promise<void> {
    this.queries += 1;
    if (this.queries <= MIN_CHECK_INTERVAL_QUERIES || nowMs - this.checkedAtMs < MIN_CHECK_INTERVAL_MS) return;
    this.checkedAtMs = nowMs;
    this.queries = 0;
    const changed = (await readSizes(client)).filter(({ id, bytes }) => this.differs(id, bytes));
    if (changed.length === 0) return;
    this.changes += 1;
    for (const { id, bytes } of changed) this.bytes.set(id, bytes);
  }

  private differs(id: string, bytes: number): boolean {
    const planned = this.bytes.get(id);
    if (planned === undefined) return true;
    const ratio = Math.max(bytes, SMALL_BYTES) / Math.max(planned, SMALL_BYTES);
    return ratio >= CHANGE_FACTOR || ratio <= 1 / CHANGE_FACTOR;
  }
}

interface TableSize {
  id: string;
  bytes: number;
}

/**
 * Reads the table sizes on one connection. Returns an empty list on failure: if the connection is broken, the next
 * query fails as well, and after a lock timeout the next check will succeed.
 */
async function readSizes(client: Pick<pg.PoolClient, 'query'>): Promise<TableSize[]> {
  try {
    // For a text with two statements, the driver returns two results, which its type does not declare.
    const results = (await client.query(READ_SIZES)) as unknown as [unknown, pg.QueryResult<TableSize>];
    return results[1].rows;
  } catch {
    return [];
  }
}
