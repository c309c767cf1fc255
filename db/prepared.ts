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

/** How a statement begins that `prepared` wrote, which is all that a connection sees of it. */
const MARK = '/* prepared */ ';

/**
 * As kysely's `sql`, of a statement that is to be parsed and planned once a connection, instead of each time it runs:
 * for the short statements of the paths that run hundreds of times a second, of which planning is more than half the
 * cost. Not for lists, searches and segments, whose best plan depends on what is asked.
 */
export function prepared<T = unknown>(fragments: TemplateStringsArray, ...values: unknown[]): RawBuilder<T> {
  return sql`${sql.raw(MARK)}${sql(fragments, ...values)}`;
}

/** An array as a marked statement has it: `$1::uuid[]`. */
const ARRAY = /\$\d+::(\w+)\[\]/g;

interface Statement {
  name: string;
  text: string;
}

/** By their text as it is written. Marked statements have one text each, so there are only so many. */
const statements = new Map<string, Statement>();

/**
 * A pool whose connections prepare the statements that begin with the mark, and plan them anew when tables have grown
 * or shrunk; `answered` hears of each answer, before who asked does.
 */
export function preparing(pool: pg.Pool, answered: () => void = () => {}): PostgresPool {
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
        // Not awaited: it runs before whatever is asked next, and a connection that broke fails that as well.
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
 * Where Postgres sees how short an array is, it prefers a plan for just that length to the one for any length, and
 * makes it each time. Into a subquery it does not look.
 */
function statementOf(text: string): Statement {
  const known = statements.get(text);
  if (known) return known;
  const statement = { name: `tidings_${statements.size + 1}`, text: text.replace(ARRAY, '(SELECT $&)::$1[]') };
  statements.set(text, statement);
  return statement;
}
