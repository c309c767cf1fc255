import { sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';
import type { RowOf } from '../schema/database.ts';

export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  mode: KeyMode;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
}

export interface NewApiKey {
  projectId: string;
  name: string;
  hash: Buffer;
  prefix: string;
  scopes: readonly string[];
  mode: KeyMode;
  /** The user who created the key. Null if the service created the key. */
  createdBy: string | null;
  expiresAt: Date | null;
}

const COLUMNS = [
  'id',
  'name',
  'prefix',
  'scopes',
  'mode',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'created_at',
] as const;

type ApiKeyRow = RowOf<'api_keys', typeof COLUMNS>;

/** Inserts a new key. Stores only its hash. */
export async function insertApiKey(db: Db, key: NewApiKey): Promise<ApiKey> {
  const row = await db
    .insertInto('api_keys')
    .values({
      project_id: key.projectId,
      name: key.name,
      key_hash: key.hash,
      prefix: key.prefix,
      scopes: [...key.scopes],
      mode: key.mode,
      created_by: key.createdBy,
      expires_at: key.expiresAt,
    })
    .returning(COLUMNS)
    .executeTakeFirst();
  return toApiKey(row);
}

/**
 * Lists all keys of a project newest first, including revoked keys. Users create keys one by one, so the list is short
 * and has no pages.
 */
export async function listApiKeys(db: Db, projectId: string): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toApiKey);
}

/**
 * Revokes a key permanently. If the key is already revoked, its `revokedAt` does not change, and `changed` is false.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function revokeApiKey(
  trx: Trx,
  p: { projectId: string; id: string },
): Promise<{ key: ApiKey; changed: boolean }> {
  const { rows } = await sql<ApiKeyRow & { changed: boolean }>`
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
    WHERE project_id = ${p.projectId} AND id = ${p.id}
    RETURNING ${sql.raw(COLUMNS.join(', '))}, old.revoked_at IS NULL AS changed
  `.execute(trx);
  return { key: toApiKey(rows[0]), changed: rows[0]?.changed ?? false };
}

/** Replaces the public key of a project. The old key stops working at once. */
export async function replacePublicKey(trx: Trx, p: { projectId: string; key: string; hash: Buffer }): Promise<void> {
  await trx
    .updateTable('projects')
    .set({ public_key: p.key, public_key_hash: p.hash, updated_at: sql`now()` })
    .where('id', '=', p.projectId)
    .execute();
}

function toApiKey(row: ApiKeyRow | undefined): ApiKey {
  if (!row) throw new AppError('NOT_FOUND');
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    mode: row.mode,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  };
}
