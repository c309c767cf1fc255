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

/** Start of a statement written with `prepared`. The connection recognizes it by this comment. */
const MARK = '/* prepared */ ';

/**
 * Like kysely's `sql`, for a statement that is parsed and planned once per connection instead of each time. For short
 * statements that run hundreds of times a second, where planning is more than half the cost. Not for lists, searches
 * and segments, whose best plan depends on their values.
 */
export function prepared<T = unknown>(fragments: TemplateStringsArray, ...values: unknown[]): RawBuilder<T> {
  return sql`${sql.raw(MARK)}${sql(fragments, ...values)}`;
}

/** An array parameter in a marked statement: `$1::uuid[]`. */
const ARRAY = /\$\d+::(\w+)\[\]/g;

interface Statement {
  name: string;
  text: string;
}

/** Statements by their text. Each marked statement has one text, so the map stays small. */
const statements = new Map<string, Statement>();

/**
 * Wraps a pool so that its connections prepare the marked statements, and plan them again when tables have grown or
 * shrunk. `answered` is called for each response, before its caller continues.
 */
export function withPreparedStatements(pool: pg.Pool, answered: () => void = () => {}): PostgresPool {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient & { generation: number }>();
  const sizes = new TableSizes();
  return {
    connect: async () => {
      const client = await pool.connect();
      await sizes.look(client);
      const known = clients.get(client) ?? { ...preparingClient(client, answered), generation: sizes.generation };
      clients.set(client, known);
      if (known.generation !== sizes.generation) {
        known.generation = sizes.generation;
        // Not awaited: the connection runs it before its next query, and a broken connection fails that query as
        // well.
        client.query('DISCARD PLANS').catch(() => {});
      }
      return known;
    },
    end: () => pool.end(),
  };
}

function preparingClient(client: pg.PoolClient, answered: () => void): PostgresPoolClient {
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('cursors are not used here');
    const statement = text.startsWith(MARK) ? statementOf(text) : { text };
    return client.query({ ...statement, values: [...values] }).then((result) => {
      answered();
      return result;
    });
  }
  return { query, release: () => client.release() };
}

/**
 * Returns the prepared form of a statement. Moves each array into a subquery, where Postgres does not see its length.
 * Otherwise it would prefer a plan for exactly that length, and plan each time.
 */
function statementOf(text: string): Statement {
  const known = statements.get(text);
  if (known) return known;
  const statement = { name: `tidings_${statements.size + 1}`, text: text.replace(ARRAY, '(SELECT $&)::$1[]') };
  statements.set(text, statement);
  return statement;
}
