import { sql } from 'kysely';
import { sealSecret } from '../../rules/access/secrets.ts';
import { type DkimKey, getDkimKeyContext } from '../../rules/domains/dkim-key.ts';
import {
  type CheckedRecords,
  computeStateAfterCheck,
  type DomainCheckState,
  type DomainStatus,
  type FoundRecords,
  type SeenRecords,
} from '../../rules/domains/sender-domain.ts';
import { AppError } from '../../rules/errors.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Db, Trx } from '../connection.ts';
import { UNFINISHED_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { RowOf } from '../schema/database.ts';

export interface Domain {
  id: string;
  projectId: string;
  domain: string;
  status: DomainStatus;
  /** True if DKIM signing is turned on for the domain. */
  signing: boolean;
  selector: string;
  publicKey: string;
  found: FoundRecords;
  /**
   * For each DNS record, the values that the DNS returned when it last responded. A record is absent before the first
   * response.
   */
  seen: SeenRecords;
  lastCheckedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface DomainRef {
  projectId: string;
  id: string;
}

const COLUMNS = [
  'id',
  'project_id',
  'domain',
  'status',
  'signing',
  'dkim_selector',
  'dkim_public_key',
  'found',
  'seen',
  'last_checked_at',
  'created_at',
  'updated_at',
] as const;

type DomainRow = RowOf<'domains', typeof COLUMNS>;

/** The maximum number of domains of a project, far more than it needs. The list of domains therefore has no pages. */
const DOMAINS_MAX = 1_000;

/**
 * Registers a domain with its signing key, which is stored encrypted. Each registration has a different DKIM selector,
 * so that two projects can publish their keys for the same domain.
 * @throws AppError CONFLICT when the project already has the domain, or has reached its limit
 */
export async function insertDomain(
  db: Db,
  p: { projectId: string; domain: string; key: DkimKey; atRestKey: Buffer },
): Promise<Domain> {
  const { count } = await db
    .selectFrom('domains')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('project_id', '=', p.projectId)
    .executeTakeFirstOrThrow();
  if (count >= DOMAINS_MAX) {
    throw new AppError('CONFLICT', {
      message: `A project has at most ${DOMAINS_MAX.toLocaleString('en')} domains.`,
      details: { count, most: DOMAINS_MAX },
      suggestion: 'Remove an unused domain first.',
    });
  }
  const id = uuidv7();
  const row = await db
    .insertInto('domains')
    .values({
      id,
      project_id: p.projectId,
      domain: p.domain,
      dkim_selector: `tidings-${id.slice(-8)}`,
      dkim_private_key: sealSecret(p.atRestKey, getDkimKeyContext(id), p.key.privateKey),
      dkim_public_key: p.key.publicKey,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'domain']).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) {
    throw new AppError('CONFLICT', {
      message: 'This project already has the domain.',
      details: { domain: p.domain },
      suggestion: 'Use the existing domain: GET /v1/domains/project/{projectId} lists all with their records.',
    });
  }
  return toDomain(row);
}

/** Lists the domains of a project, newest first. */
export async function listDomains(db: Db, projectId: string): Promise<Domain[]> {
  const rows = await db
    .selectFrom('domains')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toDomain);
}

/**
 * Returns one domain.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getDomain(db: Db, { projectId, id }: DomainRef): Promise<Domain> {
  const row = await db
    .selectFrom('domains')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toDomain(row);
}

/**
 * Turns signing for the domain on or off.
 * @throws AppError NOT_FOUND
 */
export async function updateDomainSigning(db: Db, p: DomainRef & { signing: boolean }): Promise<Domain> {
  const row = await db
    .updateTable('domains')
    .set({ signing: p.signing, updated_at: sql`now()` })
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .returning(COLUMNS)
    .executeTakeFirst();
  return toDomain(row);
}

/**
 * Lists the domains of all projects in the order of their ids, starting with the id `from`: one page of the periodic
 * check.
 */
export async function listDomainsFrom(db: Db, p: { from: string; limit: number }): Promise<Domain[]> {
  const rows = await db
    .selectFrom('domains')
    .select(COLUMNS)
    .where('id', '>=', p.from)
    .orderBy('id')
    .limit(p.limit)
    .execute();
  return rows.map(toDomain);
}

/**
 * Divides all domains into pages, and lists the first id of each page, after the id `after` and up to the id `upTo`. A
 * domain that is deleted later does not shift the other pages. If a domain of a page is deleted, the page also includes
 * the first domain of the next page, which is then checked twice.
 */
export async function listDomainPageStarts(
  db: Db,
  p: { after: string | null; upTo: string | null; limit: number; pageSize: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM domains) d
    WHERE n % ${p.pageSize} = 1 AND (${p.after}::uuid IS NULL OR id > ${p.after}::uuid)
      AND (${p.upTo}::uuid IS NULL OR id <= ${p.upTo}::uuid)
    ORDER BY id LIMIT ${p.limit}`.execute(db);
  return rows.map(({ id }) => id);
}

export async function countDomainPages(db: Db, pageSize: number): Promise<number> {
  const { rows } = await sql<{ domains: number }>`SELECT count(*) AS domains FROM domains`.execute(db);
  return Math.ceil((rows[0]?.domains ?? 0) / pageSize);
}

/**
 * Stores the result of a DNS check. The new status also depends on the stored result of earlier checks.
 * @throws AppError NOT_FOUND when the domain was deleted in the meantime
 */
export async function saveDomainCheck(
  trx: Trx,
  p: DomainRef & { checked: CheckedRecords; now: Date },
): Promise<Domain> {
  const before = await lockDomain(trx, p);
  const after = computeStateAfterCheck(checkStateOf(before), p.checked.found, p.now);
  // Omits records for which the DNS did not respond, so that they keep their stored value.
  const seen = JSON.stringify({ ...before?.seen, ...omitUndefined(p.checked.seen) });
  const found = JSON.stringify({ ...after.found, missingSince: after.missingSince?.toISOString() });
  const saved = await trx
    .updateTable('domains')
    .set({
      status: after.status,
      found,
      seen,
      last_checked_at: p.now,
      updated_at: sql`CASE WHEN status = ${after.status} THEN updated_at ELSE now() END`,
    })
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .returning(COLUMNS)
    .executeTakeFirst();
  return toDomain(saved);
}

/**
 * Deletes a domain.
 * @throws AppError NOT_FOUND; CONFLICT, with these records in `details`, while a template, a step, or an unfinished
 * campaign or one of its variants sends from the domain
 */
export async function deleteDomain(trx: Trx, ref: DomainRef): Promise<void> {
  const { domain } = toDomain(await lockDomain(trx, ref));
  const records = await listRecordsSendingFrom(trx, { projectId: ref.projectId, domain });
  if (Object.values(records).flat().length > 0) {
    throw new AppError('CONFLICT', {
      message: `Templates, steps or unsent campaigns send from ${domain}.`,
      details: records,
      suggestion: 'Give the records in details another from address first, then delete the domain.',
    });
  }
  await trx.deleteFrom('domains').where('project_id', '=', ref.projectId).where('id', '=', ref.id).execute();
}

/** Returns the row and locks it until the transaction ends. */
function lockDomain(trx: Trx, { projectId, id }: DomainRef): Promise<DomainRow | undefined> {
  return trx
    .selectFrom('domains')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

type RecordName = { id: string; name: string };

async function listRecordsSendingFrom(db: Db, p: { projectId: string; domain: string }) {
  const at = `@${p.domain}`;
  const { rows: templates } = await sql<RecordName>`
    SELECT id, name FROM templates WHERE project_id = ${p.projectId} AND right(lower(from_email), ${at.length}::int) = ${at}
  `.execute(db);
  const { rows: campaigns } = await sql<RecordName>`
    SELECT id, name FROM campaigns
    WHERE project_id = ${p.projectId} AND status IN ${UNFINISHED_CAMPAIGNS} AND (
      right(lower(from_email), ${at.length}::int) = ${at} OR EXISTS (
        SELECT FROM jsonb_array_elements(variants) v WHERE right(lower(v->>'from'), ${at.length}::int) = ${at}))
  `.execute(db);
  // The `from` of a step is an address, or an object with an address.
  const { rows: workflowSteps } = await sql<RecordName>`
    SELECT id, name FROM workflow_steps
    WHERE project_id = ${p.projectId}
      AND right(lower(coalesce(config->'from'->>'email', config->>'from')), ${at.length}::int) = ${at}
  `.execute(db);
  return { templates, campaigns, workflowSteps };
}

function checkStateOf(row: DomainRow | undefined): DomainCheckState {
  if (!row) throw createDomainNotFoundError();
  const { missingSince, ...found } = row.found;
  return {
    status: row.status,
    found,
    createdAt: row.created_at,
    missingSince: missingSince === undefined ? null : new Date(missingSince),
  };
}

function omitUndefined(seen: SeenRecords): SeenRecords {
  return Object.fromEntries(Object.entries(seen).filter(([, records]) => records !== undefined));
}

function toDomain(row: DomainRow | undefined): Domain {
  if (!row) throw createDomainNotFoundError();
  return {
    id: row.id,
    projectId: row.project_id,
    domain: row.domain,
    status: row.status,
    signing: row.signing,
    selector: row.dkim_selector,
    publicKey: row.dkim_public_key,
    found: checkStateOf(row).found,
    seen: row.seen,
    lastCheckedAt: row.last_checked_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function createDomainNotFoundError(): AppError {
  return new AppError('NOT_FOUND', { message: 'No domain of this project has this id.' });
}
