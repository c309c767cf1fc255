import type pg from 'pg';

/** Minimum time between two checks of the table sizes. One connection makes each check. */
const LOOK_MS = 1_000;
/** The minimum number of queries between two checks. With fewer queries, better plans gain nothing. */
const LOOK_QUERIES = 20;
/** A smaller table is read as a whole as fast as by an index. */
const SMALL_BYTES = 65_536;
/** A table that has grown or shrunk by this factor may need another plan. */
const FACTOR = 2;
/**
 * Reads the sizes that the planner uses: between two ANALYZEs it knows nothing else about a table that changes. Both
 * statements are one transaction, and a short lock timeout keeps it from waiting for a locked table.
 */
const LOOK = `SET LOCAL lock_timeout = '20ms';
  SELECT oid::text AS id, pg_relation_size(oid) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::text::regnamespace`;

/**
 * Tells when to plan statements again. A plan from when a table was small reads the whole table, and Postgres would
 * keep it until statistics are collected, up to a minute after a burst starts. While no table has changed much,
 * planning again would only find the same plan, at a cost above most of the gain.
 */
export class TableSizes {
  private readonly bytes = new Map<string, number>();
  private lookedAtMs = 0;
  private queries = LOOK_QUERIES;
  private changes = 0;

  /** Changes whenever plans that were made before are out of date. */
  get generation(): number {
    return this.changes;
  }

  /** Called before each query. Checks the sizes if that is due. Never rejects. */
  async look(client: Pick<pg.PoolClient, 'query'>, nowMs: number = Date.now()): Promise<void> {
    this.queries += 1;
    if (this.queries <= LOOK_QUERIES || nowMs - this.lookedAtMs < LOOK_MS) return;
    this.lookedAtMs = nowMs;
    this.queries = 0;
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

/**
 * Returns an empty list on failure. A broken connection also fails the next query, and a lock will be released by the
 * next check.
 */
async function sizesSeenBy(client: Pick<pg.PoolClient, 'query'>): Promise<TableSize[]> {
  try {
    // For a text with two statements, the driver returns two results, which its type does not declare.
    const results = (await client.query(LOOK)) as unknown as [unknown, pg.QueryResult<TableSize>];
    return results[1].rows;
  } catch {
    return [];
  }
}
