import type { Db } from '../../db/connection.ts';
import { readResolvedChoice } from '../../db/installation/resolve.ts';
import { confirmToken, insertToken } from '../../db/installation/tokens.ts';
import type { TokenState } from '../../rules/installation-tokens.ts';
import type { QueueReading } from '../../rules/queue-stats.ts';
import type { Lifecycle } from '../../temporal/lifecycle.ts';

/**
 * Writes the next token of the installation to Postgres and then to Temporal, and then marks the token as confirmed in
 * Postgres. If the last token is not confirmed, writes no new token and sends the last one to Temporal again. Even if
 * processes are killed between these writes, Postgres is therefore at most one token ahead of Temporal.
 * @param reading the state of the task queues, which the Temporal UI shows
 */
export async function writeNextToken(
  { db, lifecycle }: { db: Db; lifecycle: Pick<Lifecycle, 'writeToken'> },
  { tokens, database }: Pick<TokenState, 'tokens' | 'database'>,
  reading?: QueueReading,
): Promise<void> {
  const [newest] = tokens;
  const isPending = newest !== undefined && !newest.confirmed;
  const token = isPending ? newest : await insertToken(db, { no: (newest?.no ?? 0) + 1, database });
  // Another process wrote the next token at the same moment.
  if (!token) return;
  const { no, value, rolledAt } = token;
  const resolvedBy = await readResolvedChoice(db);
  await lifecycle.writeToken({ no, value, rolledAt, database: token.database, resolvedBy }, reading);
  await confirmToken(db, token);
}
