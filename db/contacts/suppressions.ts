import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { isSuppressionFor, SUPPRESSION_REASONS, type SuppressionReason } from '../../rules/emails/reasons.ts';
import { computeAddressHash, type KeyPads, padHmacKey } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { EmailType } from '../schema/contents.ts';
import type { RowOf } from '../schema/database.ts';

/** An address and its keyed hash. The address is null after its contact was erased. */
export interface HashedAddress {
  hash: Buffer;
  email: string | null;
}

export interface NewSuppression {
  /** The address, or its hash if the address was erased. */
  email: string | { hash: Buffer };
  reason: SuppressionReason;
  /** Origin of the suppression, such as `api`, `smtp`, `ses`, `unsubscribe_page`. */
  source: string;
  /**
   * The actor, as in the audit log: `user:<id>`, `key:<id>`, or `contact` for the person. Absent if there was no actor.
   */
  actor?: string;
}

export interface Suppression {
  id: string;
  /** Null after the contact was erased. */
  email: string | null;
  reason: SuppressionReason;
  source: string;
  actor: string | null;
  createdAt: Date;
}

/** The `source` of a suppression that a person caused on a consent page. */
export const CONSENT_PAGE_SOURCE = 'unsubscribe_page';
/**
 * Refusals by the person. The person can end them on a consent page. A caller who writes `subscribed: true` ends only
 * an `unsubscribe`.
 */
export const REFUSAL_REASONS: readonly SuppressionReason[] = ['unsubscribe', 'complaint'];

const COLUMNS = ['id', 'email', 'reason', 'source', 'actor', 'created_at'] as const;

type SuppressionRow = RowOf<'suppressions', typeof COLUMNS>;

/**
 * Adds suppressions. If an address is already suppressed for the same reason, its date and source stay. Safe to run
 * twice. Does not change contacts: the caller decides about `subscribed`.
 */
export async function addSuppressions(
  db: Db,
  key: Buffer,
  p: { projectId: string; entries: NewSuppression[] },
): Promise<Suppression[]> {
  if (p.entries.length === 0) return [];
  const entries = sortedEntries(key, p.entries);
  const { rows } = await sql<SuppressionRow>`
    INSERT INTO suppressions AS s (project_id, address_hash, email, reason, source, actor)
    SELECT ${p.projectId}, e.hash, e.email, e.reason, e.source, e.actor
    FROM unnest(${entries.map((e) => e.hash)}::bytea[], ${entries.map((e) => e.email)}::text[],
      ${entries.map((e) => e.reason)}::text[], ${entries.map((e) => e.source)}::text[],
      ${entries.map((e) => e.actor ?? null)}::text[]) AS e (hash, email, reason, source, actor)
    ON CONFLICT (project_id, address_hash, reason) DO UPDATE SET email = coalesce(s.email, excluded.email)
    RETURNING ${sql.raw(COLUMNS.join(', '))}
  `.execute(db);
  return rows.map(toSuppression);
}

/**
 * Lists suppressions newest first: all, or only the suppressions of one address, by its hash. `total` is counted only
 * on the first page, and is 0 on later pages.
 */
export async function listSuppressions(
  db: Db,
  p: PageRequest & { projectId: string; hash?: Buffer | undefined },
): Promise<Page<Suppression> & { total: number }> {
  const ours = sql<SqlBool>`project_id = ${p.projectId} AND ${p.hash ? sql`address_hash = ${p.hash}` : sql`true`}`;
  const rows = await db
    .selectFrom('suppressions')
    .select(COLUMNS)
    .where(ours)
    .where(afterCursorSql(p.cursor))
    .orderBy('id', 'desc')
    .limit(p.limit + 1)
    .execute();
  return {
    ...toPage(rows, p.limit, toSuppression),
    total: p.cursor === undefined ? await countSuppressions(db, ours) : 0,
  };
}

/** Deletes the suppressions of addresses with these reasons. Returns the number of deleted suppressions. */
export async function liftSuppressions(
  db: Db,
  key: Buffer,
  p: { projectId: string; emails: string[]; reasons: readonly SuppressionReason[] },
): Promise<number> {
  return liftSuppressionsByHash(db, { ...p, hashes: p.emails.map((email) => computeAddressHash(key, email)) });
}

/** Deletes suppressions with these reasons, by the hash of the address. Returns the number of deleted suppressions. */
export async function liftSuppressionsByHash(
  db: Db,
  p: { projectId: string; hashes: Buffer[]; reasons: readonly SuppressionReason[] },
): Promise<number> {
  const { hashes } = p;
  if (hashes.length === 0 || p.reasons.length === 0) return 0;
  const result = await sql`
    DELETE FROM suppressions
    WHERE project_id = ${p.projectId} AND address_hash = ANY(${hashes}::bytea[]) AND reason = ANY(${[...p.reasons]}::text[])
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/**
 * Deletes all suppressions of an address.
 * @throws AppError NOT_FOUND when the address is not suppressed
 */
export async function deleteSuppression(db: Db, key: Buffer, p: { projectId: string; email: string }): Promise<void> {
  const lifted = await liftSuppressions(db, key, {
    projectId: p.projectId,
    emails: [p.email],
    reasons: SUPPRESSION_REASONS,
  });
  if (lifted === 0) throw new AppError('NOT_FOUND', { message: 'This address is not on the suppression list.' });
}

/**
 * Returns the reasons of suppressions by address. Addresses without a suppression are absent. Addresses are in lower
 * case.
 */
export async function findSuppressions(
  db: Db,
  key: Buffer,
  p: { projectId: string; emails: string[] },
): Promise<Map<string, SuppressionReason[]>> {
  const byHash = new Map(
    p.emails.map((email) => [computeAddressHash(key, email).toString('hex'), normalizeEmail(email)]),
  );
  if (byHash.size === 0) return new Map();
  const hashes = [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex'));
  const { rows } = await sql<{ hash: string; reasons: SuppressionReason[] }>`
    SELECT encode(address_hash, 'hex') AS hash, array_agg(reason ORDER BY created_at) AS reasons
    FROM suppressions WHERE project_id = ${p.projectId} AND address_hash = ANY(${hashes}::bytea[])
    GROUP BY address_hash
  `.execute(db);
  return new Map(rows.map((row) => [byHash.get(row.hash) ?? '', row.reasons]));
}

/** Lists the reasons for which any of these addresses is suppressed. */
export async function listSuppressionReasons(
  db: Db,
  p: { projectId: string; hashes: readonly Buffer[] },
): Promise<SuppressionReason[]> {
  const { rows } = await sql<{ reason: SuppressionReason }>`
    SELECT DISTINCT reason FROM suppressions
    WHERE project_id = ${p.projectId} AND address_hash = ANY(${[...p.hashes]}::bytea[])
  `.execute(db);
  return rows.map(({ reason }) => reason);
}

/** A refusal by an address. */
interface AddressRefusal {
  /** True if the person complained, or unsubscribed on a consent page. */
  isOwn: boolean;
  /** True if the project protects such refusals. */
  isProtected: boolean;
}

/** Tells whether a request has to write `resubscribe: true` beside `subscribed: true` to end a refusal. */
export function needsResubscribe(refusal: AddressRefusal): boolean {
  return refusal.isOwn && refusal.isProtected;
}

/** Returns the refusals that `subscribed: true` would end or override, by address in lower case. */
export async function findRefusals(
  db: Db,
  key: Buffer,
  p: { projectId: string; emails: string[] },
): Promise<Map<string, AddressRefusal>> {
  if (p.emails.length === 0) return new Map();
  const byHash = new Map(
    p.emails.map((email) => [computeAddressHash(key, email).toString('hex'), normalizeEmail(email)]),
  );
  const hashes = [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex'));
  const { rows } = await sql<{ hash: string; isOwn: boolean; isProtected: boolean }>`
    SELECT encode(s.address_hash, 'hex') AS hash, bool_or(s.reason = 'complaint' OR s.source = ${CONSENT_PAGE_SOURCE}) AS "isOwn",
      (SELECT resubscribe_protected IS TRUE FROM projects WHERE id = ${p.projectId}) AS "isProtected"
    FROM suppressions s
    WHERE s.project_id = ${p.projectId} AND s.address_hash = ANY(${hashes}::bytea[]) AND s.reason = ANY(${[...REFUSAL_REASONS]}::text[])
    GROUP BY s.address_hash
  `.execute(db);
  return new Map(rows.map(({ hash, ...refusal }) => [byHash.get(hash) ?? '', refusal]));
}

/**
 * Copies a person's own refusals from one of their addresses to another. A hard bounce belongs to the mailbox, and
 * `manual` to the address that a user entered, so these two reasons are not copied.
 */
export async function copyRefusals(
  trx: Db,
  key: Buffer,
  p: { projectId: string; from: string; to: string },
): Promise<void> {
  await sql`
    INSERT INTO suppressions (project_id, address_hash, email, reason, source, actor)
    SELECT project_id, ${computeAddressHash(key, p.to)}, ${p.to}, reason, source, actor FROM suppressions
    WHERE project_id = ${p.projectId} AND address_hash = ${computeAddressHash(key, p.from)}
      AND reason = ANY(${[...REFUSAL_REASONS]}::text[])
    ON CONFLICT (project_id, address_hash, reason) DO NOTHING
  `.execute(trx);
}

/**
 * Finds the reason for which an address must not get email of this type. Only tests call this function, because the
 * statement that claims emails also checks the suppressions.
 */
export async function findSuppressionFor(
  db: Db,
  key: Buffer,
  p: { projectId: string; email: string; type: EmailType },
): Promise<SuppressionReason | undefined> {
  const found = await findSuppressions(db, key, { projectId: p.projectId, emails: [p.email] });
  return found.get(normalizeEmail(p.email))?.find((reason) => isSuppressionFor(reason, p.type));
}

/**
 * Returns the SQL condition that no suppression prevents email of this type to an address. `email` is a column in lower
 * case. SQL computes the keyed hash (HMAC) from the padded keys, so the statement that claims emails also checks the
 * suppressions. The check costs about 2 µs per row and one lookup in the unique index. Source: RFC 2104 §2, contract
 * §3.7 Suppressions.
 */
export function isNotSuppressedSql(p: {
  pads: KeyPads;
  email: RawBuilder<unknown>;
  projectId: string;
  type: EmailType;
}): RawBuilder<boolean> {
  return sql<boolean>`NOT EXISTS (${suppressionReasonSql(p)})`;
}

/**
 * Builds the subquery of `isNotSuppressedSql`: the first reason that prevents email of this type. This reason is stored
 * as the reason for skipping the email.
 */
export function suppressionReasonSql(p: {
  pads: KeyPads;
  email: RawBuilder<unknown>;
  projectId: string;
  type: EmailType;
}): RawBuilder<string> {
  // The reasons are literals in the SQL. With parameters, a generic plan would not know that there are only a few
  // reasons, and would not use the index.
  const stopping = SUPPRESSION_REASONS.filter((reason) => isSuppressionFor(reason, p.type));
  const reasons = sql.lit(`{${stopping.join()}}`);
  return sql<string>`
    SELECT sup.reason FROM suppressions sup
    WHERE sup.project_id = ${p.projectId}
      AND sup.address_hash = ${keyedHashSql(p.pads, p.email)}
      AND sup.reason = ANY(${reasons}::text[])
    ORDER BY array_position(${reasons}::text[], sup.reason) LIMIT 1`;
}

/** Computes the keyed hash of a text in SQL: an HMAC-SHA256. Source: RFC 2104 §2. */
export function keyedHashSql(pads: KeyPads, text: RawBuilder<unknown>): RawBuilder<Buffer> {
  return sql<Buffer>`sha256(${pads.outer}::bytea || sha256(${pads.inner}::bytea || convert_to(${text}, 'UTF8')))`;
}

/** Returns the padded keys for `isNotSuppressedSql`. */
export function createSuppressionPads(key: Buffer): KeyPads {
  return padHmacKey(key);
}

async function countSuppressions(db: Db, ours: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM suppressions WHERE ${ours}`.execute(db);
  return rows[0]?.total ?? 0;
}

function toSuppression(row: SuppressionRow): Suppression {
  return {
    id: row.id,
    email: row.email,
    reason: row.reason,
    source: row.source,
    actor: row.actor,
    createdAt: row.created_at,
  };
}

/**
 * Removes duplicates of address and reason. Sorts by hash, so that two concurrent statements lock rows in the same
 * order.
 */
function sortedEntries(key: Buffer, entries: NewSuppression[]) {
  const unique = new Map<string, Omit<NewSuppression, 'email'> & HashedAddress>();
  for (const entry of entries) {
    const address = hashAddress(key, entry.email);
    unique.set(`${address.hash.toString('hex')} ${entry.reason}`, { ...entry, ...address });
  }
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function hashAddress(key: Buffer, address: string | { hash: Buffer }): HashedAddress {
  if (typeof address !== 'string') return { hash: address.hash, email: null };
  return { hash: computeAddressHash(key, address), email: normalizeEmail(address) };
}
