import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../cli/start/embedded-postgres.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { connect, type Db } from '../../db/connection.ts';
import { migrateToLatest } from '../../db/migrator.ts';

export interface BenchDatabase {
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens a migrated database: the one at `url`, which keeps its data, or a new one that `close` deletes. */
export async function openDatabase({ url, max }: { url?: string | undefined; max: number }): Promise<BenchDatabase> {
  const home = mkdtempSync(join(tmpdir(), 'tidings-bench-'));
  const postgres =
    url === undefined
      ? await startEmbeddedPostgres({
          dataFolder: join(home, 'postgres', 'data'),
          logFile: join(home, 'postgres.log'),
          port: await findFreePort(),
          password: 'bench',
        })
      : undefined;
  const connectionString = url ?? postgres?.url ?? '';
  await migrateToLatest(connectionString);
  const { db } = connect({ connectionString, max, applicationName: 'bench', onError: () => {} });
  return {
    db,
    async close() {
      await db.destroy();
      await postgres?.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
