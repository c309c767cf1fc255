import {
  type PostgresCursor,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  type RawBuilder,
  sql,
} from 'kysely';
import type pg from 'pg';
import { TableSizes } from './table-sizes.ts';

/**
 * The comment with which statements of `prepared` start. The connection recognizes prepared statements by this comment.
 */
const MARK = '/* prepared */ ';

/**
 * Like kysely's `sql`, for a statement that each connection parses once, and for which Postgres reuses a plan. Use it
 * for short statements that run hundreds of times per second, for which planning costs more than half of the time. Do
 * not use it for lists, searches and segments, whose best plan depends on their values.
 */
export function prepared<T = unknown>(fragments: TemplateStringsArray, ...values: unknown[]): RawBuilder<T> {
  return sql`${sql.raw(MARK)}${sql(fragments, ...values)}`;
}

/** Matches an array parameter in a prepared statement: `$1::uuid[]`. */
const ARRAY = /\$\d+::(\w+)\[\]/g;

interface Statement {
  name: string;
  text: string;
}

/** Prepared statements by their SQL text. The code has a fixed number of them, so the map stays small. */
const statements = new Map<string, Statement>();

/**
 * Wraps a pool so that its connections prepare the statements of `prepared`, and plan them again when tables have grown
 * or shrunk. `onResponse` is called after each successful query, before the caller of the query continues.
 */
export function withPreparedStatements(pool: pg.Pool, onResponse: () => void = () => {}): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient & { generation: number }>();
  const sizes = new TableSizes();
  return {
    connect: async () => {
      const client = await pool.connect();
      await sizes.checkWhenDue(client);
      const known = clients.get(client) ?? { ...wrapClient(client, onResponse), generation: sizes.generation };
      clients.set(client, known);
      if (known.generation !== sizes.generation) {
        known.generation = sizes.generation;
        // No await is needed, because the connection runs this statement before its next query. If the connection is
        // broken, that next query fails as well.
        client.query('DISCARD PLANS').catch(() => {});
      }
      return known;
    },
    end: () => pool.end(),
  };
}

function wrapClient(client: pg.PoolClient, onResponse: () => void): PostgresPoolClient {
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('cursors are not used here');
    const statement = text.startsWith(MARK) ? getStatement(text) : { text };
    return client.query({ ...statement, values: [...values] }).then((result) => {
      onResponse();
      return result;
    });
  }
  return { query, release: () => client.release() };
}

/**
 * Returns the prepared form of a statement. Moves each array parameter into a subquery, which hides the array's length
 * from the planner. Otherwise Postgres would plan the statement each time for the exact length.
 */
function getStatement(text: string): Statement {
  const known = statements.get(text);
  if (known) return known;
  const statement = { name: `tidings_${statements.size + 1}`, text: text.replace(ARRAY, '(SELECT $&)::$1[]') };
  statements.set(text, statement);
  return statement;
}
