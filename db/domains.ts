import { sql } from 'kysely';
import { type DkimKey, dkimKeyContext } from '../domain/dkim-key.ts';
import { AppError } from '../domain/errors.ts';
import { sealSecret } from '../domain/secrets.ts';
import { afterCheck, type DomainStatus, type FoundRecords, type Standing } from '../domain/sender-domain.ts';
import { uuidv7 } from '../domain/uuid.ts';
import type { Db, Trx } from './connection.ts';

export interface Domain {
  id: string;
  projectId: string;
  domain: string;
  status: DomainStatus;
  /** Whether the service signs mail from it. */
  signing: boolean;
  selector: string;
  publicKey: string;
  found: FoundRecords;
  lastCheckedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface DomainRef {
  projectId: string;
  id: string;
}

const COLUMNS = sql.raw(
  'id, project_id, domain, status, signing, dkim_selector, dkim_public_key, found, last_checked_at, created_at, updated_at',
);

/**
 * Registers a domain with its key, which is stored sealed. Its selector is its own, so that two projects can publish theirs for one domain.
 * @throws AppError CONFLICT when the project has the domain
 */
export async function insertDomain(
  db: Db,
  p: { projectId: string; domain: string; key: DkimKey; atRestKey: Buffer },
): Promise<Domain> {
  const id = uuidv7();
  const selector = `tidings-${id.slice(-8)}`;
  const { rows } = await sql<DomainRow>`
    INSERT INTO domains (id, project_id, domain, dkim_selector, dkim_private_key, dkim_public_key)
    VALUES (${id}, ${p.projectId}, ${p.domain}, ${selector}, ${sealSecret(p.atRestKey, dkimKeyContext(id), p.key.privateKey)},
      ${p.key.publicKey})
    ON CONFLICT (project_id, domain) DO NOTHING
    RETURNING ${COLUMNS}
  `.execute(db);
  if (rows.length === 0) {
    throw new AppError('CONFLICT', { message: 'The project has this domain already.', details: { domain: p.domain } });
  }
  return toDomain(rows[0]);
}

/** The domains of a project, newest first. */
export async function listDomains(db: Db, projectId: string): Promise<Domain[]> {
  const { rows } = await sql<DomainRow>`
    SELECT ${COLUMNS} FROM domains WHERE project_id = ${projectId} ORDER BY id DESC
  `.execute(db);
  return rows.map(toDomain);
}

/** @throws AppError NOT_FOUND (another project's id too) */
export async function getDomain(db: Db, { projectId, id }: DomainRef): Promise<Domain> {
  const { rows } = await sql<DomainRow>`
    SELECT ${COLUMNS} FROM domains WHERE project_id = ${projectId} AND id = ${id}
  `.execute(db);
  return toDomain(rows[0]);
}

/** @throws AppError NOT_FOUND */
export async function updateDomainSigning(db: Db, p: DomainRef & { signing: boolean }): Promise<Domain> {
  const { rows } = await sql<DomainRow>`
    UPDATE domains SET signing = ${p.signing}, updated_at = now() WHERE project_id = ${p.projectId} AND id = ${p.id}
    RETURNING ${COLUMNS}
  `.execute(db);
  return toDomain(rows[0]);
}

/** Domains of every project in the order of their ids, after one: for the check that comes round. */
export async function listDomainsAfter(db: Db, p: { after: string | null; limit: number }): Promise<Domain[]> {
  const { rows } = await sql<DomainRow>`
    SELECT ${COLUMNS} FROM domains WHERE ${p.after === null ? sql`true` : sql`id > ${p.after}::uuid`}
    ORDER BY id LIMIT ${p.limit}
  `.execute(db);
  return rows.map(toDomain);
}

/** Writes down what a check found, judged against what is stored now. @throws AppError NOT_FOUND when it was removed meanwhile */
export async function saveDomainCheck(trx: Trx, p: DomainRef & { checked: FoundRecords; now: Date }): Promise<Domain> {
  const { rows } = await sql<DomainRow>`
    SELECT ${COLUMNS} FROM domains WHERE project_id = ${p.projectId} AND id = ${p.id} FOR UPDATE
  `.execute(trx);
  const before = standingOf(rows[0]);
  const after = afterCheck(before, p.checked, p.now);
  const found = JSON.stringify({ ...after.found, missingSince: after.missingSince?.toISOString() });
  const { rows: saved } = await sql<DomainRow>`
    UPDATE domains SET status = ${after.status}, found = ${found}::jsonb, last_checked_at = ${p.now},
      updated_at = CASE WHEN status = ${after.status} THEN updated_at ELSE now() END
    WHERE project_id = ${p.projectId} AND id = ${p.id} RETURNING ${COLUMNS}
  `.execute(trx);
  return toDomain(saved[0]);
}

/**
 * Detaches a domain.
 * @throws AppError NOT_FOUND, CONFLICT with the users in `details` while a template, a step or an unsent campaign sends from it
 */
export async function deleteDomain(trx: Trx, ref: DomainRef): Promise<void> {
  const { rows } = await sql<DomainRow>`
    SELECT ${COLUMNS} FROM domains WHERE project_id = ${ref.projectId} AND id = ${ref.id} FOR UPDATE
  `.execute(trx);
  const { domain } = toDomain(rows[0]);
  const users = await domainUsers(trx, ref.projectId, domain);
  if (Object.values(users).flat().length > 0) {
    throw new AppError('CONFLICT', { message: `Mail is still to be sent from ${domain}.`, details: users });
  }
  await sql`DELETE FROM domains WHERE project_id = ${ref.projectId} AND id = ${ref.id}`.execute(trx);
}

type User = { id: string; name: string };

async function domainUsers(db: Db, projectId: string, domain: string) {
  const at = `@${domain}`;
  const { rows: templates } = await sql<User>`
    SELECT id, name FROM templates WHERE project_id = ${projectId} AND right(lower(from_email), ${at.length}::int) = ${at}
  `.execute(db);
  const { rows: campaigns } = await sql<User>`
    SELECT id, name FROM campaigns
    WHERE project_id = ${projectId} AND status IN ('DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED') AND right(lower(from_email), ${at.length}::int) = ${at}
  `.execute(db);
  // `from` of a step is an address, or an object with one.
  const { rows: workflowSteps } = await sql<User>`
    SELECT id, name FROM workflow_steps
    WHERE project_id = ${projectId}
      AND right(lower(coalesce(config->'from'->>'email', config->>'from')), ${at.length}::int) = ${at}
  `.execute(db);
  return { templates, campaigns, workflowSteps };
}

interface DomainRow {
  id: string;
  project_id: string;
  domain: string;
  status: DomainStatus;
  signing: boolean;
  dkim_selector: string;
  dkim_public_key: string;
  found: FoundRecords & { missingSince?: string };
  last_checked_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

function standingOf(row: DomainRow | undefined): Standing {
  if (!row) throw notFound();
  const { missingSince, ...found } = row.found;
  return {
    status: row.status,
    found,
    createdAt: row.created_at,
    missingSince: missingSince === undefined ? null : new Date(missingSince),
  };
}

function toDomain(row: DomainRow | undefined): Domain {
  if (!row) throw notFound();
  return {
    id: row.id,
    projectId: row.project_id,
    domain: row.domain,
    status: row.status,
    signing: row.signing,
    selector: row.dkim_selector,
    publicKey: row.dkim_public_key,
    found: standingOf(row).found,
    lastCheckedAt: row.last_checked_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', { message: 'No domain of this project has this id.' });
}
