import { sql } from 'kysely';
import type { ColumnType } from '../../rules/contacts/column-types.ts';
import type { KnownTypes } from '../../rules/contacts/csv-layout.ts';
import { AppError } from '../../rules/errors.ts';
import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEP_TYPES, STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import { hasStoredReference } from '../../rules/filters/references.ts';
import type { Db } from '../connection.ts';
import { UNFINISHED_CAMPAIGNS } from '../schema/campaign-status.ts';
import { deletePhones, PHONE_KEY } from '../sms/contact-phones.ts';
import { inTransaction } from '../transaction.ts';

export type FieldType = 'string' | 'number' | 'boolean' | 'date' | 'array' | 'object';

export interface ContactField {
  /**
   * The name in the API. Standard fields have a name such as `email`; custom fields are `data.<key>` (contract §3.6
   * Fields).
   */
  field: string;
  type: FieldType;
  /** Percent of the project's contacts that have the field. */
  coverage: number;
  standard: boolean;
}

export interface FieldUser {
  id: string;
  name: string;
}

export interface FieldUsage {
  usedInSegments: FieldUser[];
  usedInCampaigns: FieldUser[];
  usedInWorkflows: FieldUser[];
  contactCount: number;
  canDelete: boolean;
}

interface FieldRef {
  projectId: string;
  key: string;
}

const STANDARD_FIELDS: ContactField[] = [
  { field: 'email', type: 'string', coverage: 100, standard: true },
  { field: 'subscribed', type: 'boolean', coverage: 100, standard: true },
  { field: 'createdAt', type: 'date', coverage: 100, standard: true },
  { field: 'updatedAt', type: 'date', coverage: 100, standard: true },
];

/**
 * The maximum number of contacts whose data is read for types and coverage. In a larger project, the service reads an
 * even sample of 10,000 to 20,000 contacts. Reading a million contacts takes 5 s, and the sample less than 1 s. The
 * percentages are correct to 1 %. A field that very few contacts have may be absent from the sample.
 */
const SAMPLE_CONTACTS = 20_000;
/** The number of newest contacts with the field whose values are counted. */
const VALUES_CONTACTS = 100_000;
/** The number of newest contacts whose data keys are compared with a file's columns. */
const RECENT_CONTACTS = 1_000;
/** Contacts per transaction. The number is small, so that locks are short and each commit leaves few dead tuples. */
const STRIP_BATCH = 5_000;
const ISO_DATE = '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$';

/**
 * Returns the key of a custom field. The field's name in a request is the key itself (`plan`) or has a prefix
 * (`data.plan`).
 * @throws AppError BAD_REQUEST for a standard field
 */
export function parseCustomFieldKey(field: string): string {
  if (field.startsWith('data.') && field.length > 'data.'.length) return field.slice('data.'.length);
  if (STANDARD_FIELDS.some((standard) => standard.field === field)) {
    throw new AppError('BAD_REQUEST', {
      message: `"${field}" is a standard field.`,
      suggestion: `Use a custom field, such as data.plan. A custom field named ${field} is data.${field}.`,
    });
  }
  return field;
}

/**
 * Lists standard and custom fields with their most frequent type and their coverage in percent. Source: contract §3.6
 * Fields.
 */
export async function listContactFields(db: Db, projectId: string): Promise<ContactField[]> {
  const mask = sampleMask(await countContacts(db, projectId));
  const { rows } = await sql<{ key: string; type: FieldType; contacts: number; sampled: number }>`
    WITH sample AS MATERIALIZED (
      SELECT data FROM contacts WHERE project_id = ${projectId} AND uuid_hash(id) & ${mask}::int = 0
    )
    SELECT key, type, count(*) AS contacts, (SELECT count(*) FROM sample) AS sampled FROM (
      SELECT key, CASE WHEN jsonb_typeof(value) = 'string' AND value #>> '{}' ~ ${ISO_DATE} THEN 'date'
        ELSE jsonb_typeof(value) END AS type
      FROM sample, jsonb_each(data)
    ) AS typed WHERE type <> 'null' GROUP BY key, type ORDER BY key, contacts DESC, type
  `.execute(db);
  const custom = new Map<string, ContactField & { contacts: number }>();
  for (const row of rows) {
    const known = custom.get(row.key);
    const contacts = (known?.contacts ?? 0) + row.contacts;
    const coverage = Math.round((contacts / row.sampled) * 1000) / 10;
    // The first row of a key has its most frequent type. The types of later rows are ignored, but their contacts are
    // counted.
    custom.set(row.key, {
      field: `data.${row.key}`,
      type: known?.type ?? row.type,
      coverage,
      standard: false,
      contacts,
    });
  }
  return [...STANDARD_FIELDS, ...[...custom.values()].map(({ contacts: _, ...field }) => field)];
}

/**
 * A data key, and the type of its values, in the terms of an imported file's columns. The type is null if the values
 * have several types.
 */
export type RecentField = { key: string; type: ColumnType | null };

/**
 * Lists the data keys of the newest contacts with the type of their values. An import compares a file's columns with
 * them.
 */
export async function listRecentFields(db: Db, projectId: string): Promise<RecentField[]> {
  const { rows } = await sql<RecentField>`
    SELECT key, CASE WHEN count(DISTINCT type) = 1 THEN min(type) END AS type FROM (
      SELECT key, CASE jsonb_typeof(value) WHEN 'string' THEN 'text' WHEN 'array' THEN 'json' WHEN 'object' THEN 'json'
        ELSE jsonb_typeof(value) END AS type
      FROM (SELECT data FROM contacts WHERE project_id = ${projectId} ORDER BY id DESC LIMIT ${RECENT_CONTACTS}) AS newest,
        jsonb_each(data)
    ) AS typed WHERE type <> 'null' GROUP BY key ORDER BY key COLLATE "C"
  `.execute(db);
  return rows;
}

/** Returns the type of each field whose values have one type. */
export function collectKnownTypes(fields: readonly RecentField[]): KnownTypes {
  return Object.fromEntries(fields.flatMap(({ key, type }) => (type === null ? [] : [[key, type]])));
}

/**
 * Lists distinct values of a custom field, the most frequent first. Reads the newest 100,000 contacts that have the
 * field.
 */
export async function listFieldValues(db: Db, p: FieldRef & { limit: number }): Promise<unknown[]> {
  const { rows } = await sql<{ value: unknown }>`
    SELECT value FROM (
      SELECT data->${p.key} AS value FROM contacts WHERE project_id = ${p.projectId} AND data ? ${p.key}
      ORDER BY id DESC LIMIT ${VALUES_CONTACTS}
    ) AS newest GROUP BY value ORDER BY count(*) DESC, value LIMIT ${p.limit}
  `.execute(db);
  return rows.map((row) => row.value);
}

/**
 * Returns the segments, the audience filters of unfinished campaigns, and the workflows that use a custom field, and
 * the number of contacts that have the field.
 */
export async function getFieldUsage(db: Db, p: FieldRef): Promise<FieldUsage> {
  const [usedInSegments, usedInCampaigns, usedInWorkflows] = [
    await listSegmentsUsing(db, p),
    await listCampaignsUsing(db, p),
    await listWorkflowsUsing(db, p),
  ];
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM contacts WHERE project_id = ${p.projectId} AND data ? ${p.key}
  `.execute(db);
  const canDelete = usedInSegments.length + usedInCampaigns.length + usedInWorkflows.length === 0;
  return { usedInSegments, usedInCampaigns, usedInWorkflows, contactCount: rows[0]?.total ?? 0, canDelete };
}

/**
 * Removes a custom field from all contacts, and returns how many contacts had it. Works in batches with a transaction
 * each. If a crash interrupts the removal, another call completes it.
 * @throws AppError CONFLICT while the field is in use, with the uses in `details`
 */
export async function deleteContactField(db: Db, p: FieldRef): Promise<number> {
  const { usedInSegments, usedInCampaigns, usedInWorkflows, canDelete } = await getFieldUsage(db, p);
  if (!canDelete) {
    throw new AppError('CONFLICT', {
      message: `The field "${p.key}" is in use.`,
      details: { usedInSegments, usedInCampaigns, usedInWorkflows },
      suggestion: 'Remove the field from the records in details first.',
    });
  }
  let deletedFrom = 0;
  let after: string | undefined;
  do {
    const batch = await removeKeyFromBatch(db, p, after);
    deletedFrom += batch.size;
    after = batch.last;
  } while (after);
  return deletedFrom;
}

async function removeKeyFromBatch(
  db: Db,
  p: FieldRef,
  after: string | undefined,
): Promise<{ size: number; last: string | undefined }> {
  const rows = await inTransaction(db, async (trx) => {
    const stripped = await sql<{ id: string }>`
      UPDATE contacts SET data = data - ${p.key}::text, untrusted_keys = array_remove(untrusted_keys, ${p.key}), updated_at = now()
      WHERE id IN (
        SELECT id FROM contacts
        WHERE project_id = ${p.projectId} AND data ? ${p.key} AND ${after ? sql`id > ${after}::uuid` : sql`true`}
        ORDER BY id LIMIT ${STRIP_BATCH} FOR NO KEY UPDATE)
      RETURNING id
    `.execute(trx);
    const contactIds = stripped.rows.map(({ id }) => id);
    if (p.key === PHONE_KEY) await deletePhones(trx, { projectId: p.projectId, contactIds });
    return stripped.rows;
  });
  const last = rows
    .map((row) => row.id)
    .sort()
    .at(-1);
  return { size: rows.length, last: rows.length === STRIP_BATCH ? last : undefined };
}

/**
 * Returns the bit mask for sampling contacts by the low bits of their id's hash. The mask selects all contacts of a
 * project up to the sample's size, and then half of them, a quarter and so on.
 */
function sampleMask(contacts: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, contacts) / SAMPLE_CONTACTS))) - 1;
}

async function countContacts(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM contacts WHERE project_id = ${projectId}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

async function listSegmentsUsing(db: Db, p: FieldRef): Promise<FieldUser[]> {
  const { rows } = await sql<FieldUser & { condition: unknown }>`
    SELECT id, name, condition FROM segments WHERE project_id = ${p.projectId} AND condition IS NOT NULL ORDER BY id
  `.execute(db);
  return rows.filter((row) => usesFieldInCondition(row, p.key)).map(toFieldUser);
}

async function listCampaignsUsing(db: Db, p: FieldRef): Promise<FieldUser[]> {
  const { rows } = await sql<FieldUser & { condition: unknown }>`
    SELECT id, name, audience_filter AS condition FROM campaigns
    WHERE project_id = ${p.projectId} AND audience_filter IS NOT NULL AND status IN ${UNFINISHED_CAMPAIGNS}
    ORDER BY id
  `.execute(db);
  return rows.filter((row) => usesFieldInCondition(row, p.key)).map(toFieldUser);
}

async function listWorkflowsUsing(db: Db, p: FieldRef): Promise<FieldUser[]> {
  const types = STEP_TYPES.filter((type) => STEPS[type].usesField);
  const { rows } = await sql<FieldUser & { type: StepType; config: StepConfig }>`
    SELECT w.id, w.name, s.type, s.config FROM workflow_steps s JOIN workflows w ON w.id = s.workflow_id
    WHERE s.project_id = ${p.projectId} AND s.type = ANY(${types}::text[]) ORDER BY w.id
  `.execute(db);
  const using = rows.filter(({ type, config }) => STEPS[type].usesField?.(config, p.key));
  return [...new Map(using.map((row) => [row.id, toFieldUser(row)])).values()];
}

function usesFieldInCondition({ condition }: { condition: unknown }, key: string): boolean {
  return hasStoredReference(condition, { dataField: `data.${key}` }, 'audience');
}

function toFieldUser({ id, name }: FieldUser): FieldUser {
  return { id, name };
}
