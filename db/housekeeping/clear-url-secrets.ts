import { sql } from 'kysely';
import { deriveKey } from '../../rules/access/secrets.ts';
import { hasInseparableCredentials, maskUrl, sealUrl } from '../../rules/access/url-secrets.ts';
import type { Db } from '../connection.ts';
import { endpointUrlContext } from '../webhooks/endpoints.ts';
import { sealStepConfig } from '../workflows/step-secrets.ts';

/** Rows per query. Only URLs with an `@` are read, which are few. */
const PAGE = 500;
const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * Encrypts clear-text passwords in URLs of webhook steps and endpoints, which an earlier release stored. If a row
 * changes in the meantime, the next round of pruning encrypts it. Safe to run twice, and at any time.
 */
export async function sealClearUrlSecrets(db: Db, secretKey: string): Promise<void> {
  await sealEndpoints(db, deriveKey(secretKey, 'at-rest'));
  await sealSteps(db, secretKey);
}

async function sealEndpoints(db: Db, key: Buffer): Promise<void> {
  const page = (after: string) =>
    sql<{ id: string; url: string }>`
      SELECT id, url FROM webhook_endpoints WHERE id > ${after} AND url_secret IS NULL AND url LIKE '%@%' ORDER BY id LIMIT ${PAGE}
    `.execute(db);
  await processPages(page, async ({ id, url }) => {
    if (!hasUnsealedSecret(url)) return;
    const stored = sealUrl({ key, context: endpointUrlContext(id), url, field: 'url' });
    await sql`
      UPDATE webhook_endpoints SET url = ${stored.url}, url_secret = ${stored.sealed}
      WHERE id = ${id} AND url = ${url} AND url_secret IS NULL
    `.execute(db);
  });
}

async function sealSteps(db: Db, secretKey: string): Promise<void> {
  const page = (after: string) =>
    sql<{ id: string; url: string }>`
      SELECT id, config->>'url' AS url FROM workflow_steps
      WHERE id > ${after} AND type = 'WEBHOOK' AND config->>'url' LIKE '%@%' AND NOT config ? 'urlSecret' ORDER BY id LIMIT ${PAGE}
    `.execute(db);
  await processPages(page, async ({ id, url }) => {
    if (!hasUnsealedSecret(url)) return;
    const sealed = sealStepConfig(secretKey, { id, type: 'WEBHOOK', config: { url } });
    await sql`
      UPDATE workflow_steps SET config = config || ${JSON.stringify(sealed)}::jsonb
      WHERE id = ${id} AND config->>'url' = ${url} AND NOT config ? 'urlSecret'
    `.execute(db);
  });
}

/**
 * Tells whether a URL has a clear-text password that can be encrypted. An `@` in a path is not a password. A URL whose
 * password cannot be separated from its other parts counts as having none.
 */
function hasUnsealedSecret(url: string): boolean {
  return maskUrl(url) !== url && !hasInseparableCredentials(url);
}

async function processPages<Row extends { id: string }>(
  read: (after: string) => Promise<{ rows: Row[] }>,
  each: (row: Row) => Promise<void>,
): Promise<void> {
  for (let after: string | undefined = NIL; after !== undefined; ) {
    const { rows } = await read(after);
    for (const row of rows) await each(row);
    after = rows.length === PAGE ? rows.at(-1)?.id : undefined;
  }
}
