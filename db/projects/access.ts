import { sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { Role } from '../../rules/access/scopes.ts';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import type { Db } from '../connection.ts';
import type { RowOf } from '../schema/database.ts';

/** The settings of a project that are checked for each request. */
export interface AccessProject {
  id: string;
  name: string;
  tracking: TrackingMode;
  timezone: string;
  monthlyEmailLimit: number | null;
  held: boolean;
  disabled: boolean;
}

/** The access that an API key grants. A public key has no id, scopes or expiry. */
export interface KeyAccess {
  kind: 'secret' | 'public';
  keyId: string | null;
  mode: KeyMode;
  scopes: ReadonlySet<string>;
  /** Milliseconds since 1970. Null means never. */
  expiresAtMs: number | null;
  project: AccessProject;
}

export interface SessionAccess {
  userId: string;
  email: string;
  role: Role;
  project: AccessProject;
}

const PROJECT_COLUMNS = sql`
  p.id AS project_id, p.name, p.tracking, p.timezone, p.effective_monthly_email_limit AS monthly_email_limit, p.effective_held_at IS NOT NULL AS held,
  p.disabled_at IS NOT NULL AS disabled`;

/**
 * Finds the access that the key with this SHA-256 grants. Undefined when the key is unknown, revoked or expired. One
 * query by a unique index finds both secret and public keys.
 */
export async function findKeyAccess(db: Db, keyHash: Buffer): Promise<KeyAccess | undefined> {
  const { rows } = await sql<KeyRow>`
    SELECT k.id AS key_id, k.mode, k.scopes, k.expires_at, ${PROJECT_COLUMNS}
    FROM api_keys k JOIN projects p ON p.id = k.project_id
    WHERE k.key_hash = ${keyHash} AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    UNION ALL
    SELECT NULL, 'live', '{}', NULL, ${PROJECT_COLUMNS} FROM projects p WHERE p.public_key_hash = ${keyHash}
  `.execute(db);
  const row = rows[0];
  return (
    row && {
      kind: row.key_id === null ? 'public' : 'secret',
      keyId: row.key_id,
      mode: row.mode,
      scopes: new Set(row.scopes),
      expiresAtMs: row.expires_at?.getTime() ?? null,
      project: toProject(row),
    }
  );
}

/**
 * Finds the user, project and role of the session with this token hash (SHA-256). Undefined when the session is unknown
 * or expired, or its user is no longer a member.
 */
export async function findSessionAccess(db: Db, tokenHash: Buffer): Promise<SessionAccess | undefined> {
  const { rows } = await sql<ProjectRow & { user_id: string; email: string; role: Role }>`
    SELECT u.id AS user_id, u.email, m.role, ${PROJECT_COLUMNS}
    FROM sessions s
    JOIN users u ON u.id = s.user_id
    JOIN memberships m ON m.user_id = s.user_id AND m.project_id = s.project_id
    JOIN projects p ON p.id = s.project_id
    WHERE s.token_hash = ${tokenHash} AND s.expires_at > now()
  `.execute(db);
  const row = rows[0];
  return row && { userId: row.user_id, email: row.email, role: row.role, project: toProject(row) };
}

/**
 * Records for many keys in one statement that they were used now. No index contains `last_used_at`, and the trigger
 * that reports changes of keys ignores it.
 */
export async function updateKeysLastUsed(db: Db, keyIds: string[]): Promise<void> {
  await sql`UPDATE api_keys SET last_used_at = now() WHERE id = ANY(${keyIds}::uuid[])`.execute(db);
}

interface ProjectRow {
  project_id: string;
  name: string;
  tracking: AccessProject['tracking'];
  timezone: string;
  monthly_email_limit: number | null;
  held: boolean;
  disabled: boolean;
}

type KeyRow = ProjectRow & RowOf<'api_keys', ['mode', 'scopes', 'expires_at']> & { key_id: string | null };

function toProject(row: ProjectRow): AccessProject {
  return {
    id: row.project_id,
    name: row.name,
    tracking: row.tracking,
    timezone: row.timezone,
    monthlyEmailLimit: row.monthly_email_limit,
    held: row.held,
    disabled: row.disabled,
  };
}
