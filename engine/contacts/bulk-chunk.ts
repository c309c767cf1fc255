import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { contactPredicate } from '../../db/contacts/contact-search.ts';
import {
  advanceJob,
  type BulkInput,
  getJobStatus,
  type JobRef,
  type LockedJob,
  lockJob,
} from '../../db/contacts/jobs.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { type BulkKind, type BulkResult, JOB_ERRORS_MAX } from '../../rules/contacts/jobs.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { deleteContacts } from './delete-contacts.ts';
import { recordSubscriptionChanges } from './subscription-changes.ts';

/**
 * The number of contacts in one transaction. The number is small, so that other writers do not wait long for the lock
 * of a contact.
 */
const CHUNK_CONTACTS = 250;
const PROTECTED =
  'The contact complained, or unsubscribed on a consent page. Set resubscribe: true to subscribe the contact anyway.';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export interface ChunkProgress {
  done: boolean;
  processed: number;
  total: number;
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
  /**
   * Whether the job's cursor differs from the cursor that the caller passed. In that case, this call has changed
   * nothing.
   */
  moved?: boolean;
}

interface Effect {
  succeeded: ReadonlySet<string>;
  /**
   * Contacts that refused by a complaint, or on a consent page. The project protects these contacts against a
   * subscription by the job.
   */
  refused?: ReadonlySet<string>;
  outbox: OutboxRow[];
}

/**
 * Processes the next chunk of a bulk job. Advances the job in the same transaction, so each chunk is processed once
 * even after a crash. An id that is not a contact of the project is reported as an error, and the job continues with
 * the other ids. Source: contract §3.5 Import.
 */
export async function runBulkChunk(
  trx: Trx,
  p: JobRef & { kind: BulkKind; suppressionKey: Buffer },
): Promise<ChunkProgress> {
  const job = await lockJob<BulkInput, BulkResult>(trx, p);
  if (!job) return createEmptyLastChunk(trx, p);
  const { ids, done, total } = await listNextIds(trx, { projectId: p.projectId, job });
  const effect = await applyOperation(trx, { ...p, ids: ids.filter((id) => UUID.test(id)), mode: job.input.mode });
  const processed = job.cursor + ids.length;
  const result = addOutcome(job.result, ids, effect);
  const after = job.input.where && ids.at(-1);
  await advanceJob(trx, { ...p, cursor: processed, processed, result, after });
  return { done, processed, total, outbox: effect.outbox };
}

/**
 * Returns an empty last chunk for a job that has ended.
 * @throws RowMissing when no such job was recorded
 */
export async function createEmptyLastChunk(trx: Trx, p: JobRef): Promise<ChunkProgress> {
  await getJobStatus(trx, p);
  return { done: true, processed: 0, total: 0, outbox: [] };
}

/**
 * Selects the contacts of the next chunk. A condition selects contacts by their current values, not by their values at
 * the time of the request. Contacts created after the request are excluded. The job goes through the ids in ascending
 * order, so it never processes a contact twice. The job therefore ends even if its changes affect which contacts the
 * condition matches.
 */
async function listNextIds(
  trx: Trx,
  { projectId, job }: { projectId: string; job: LockedJob<BulkInput, BulkResult> },
): Promise<{ ids: string[]; done: boolean; total: number }> {
  const { contactIds, where, until, after } = job.input;
  if (!where) {
    const ids = contactIds.slice(job.cursor, job.cursor + CHUNK_CONTACTS);
    return { ids, done: job.cursor + ids.length >= contactIds.length, total: contactIds.length };
  }
  const total = job.result.totalRequested;
  if (until === undefined) return { ids: [], done: true, total };
  const found = await contactPredicate(trx, { projectId, ...where });
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM contacts
    WHERE ${found} AND id <= ${until}::uuid AND ${after === undefined ? sql`true` : sql`id > ${after}::uuid`}
    ORDER BY id LIMIT ${CHUNK_CONTACTS}
  `.execute(trx);
  return { ids: rows.map(({ id }) => id), done: rows.length < CHUNK_CONTACTS, total };
}

async function applyOperation(
  trx: Trx,
  p: JobRef & { kind: BulkKind; ids: string[]; mode: KeyMode; suppressionKey: Buffer },
): Promise<Effect> {
  if (p.kind !== 'bulk-delete') {
    return setSubscribed(trx, { ...p, subscribed: p.kind === 'bulk-subscribe', by: `job:${p.id}` });
  }
  const deleted = await deleteContacts(trx, p);
  return { succeeded: new Set(deleted.ids), outbox: deleted.outbox };
}

async function setSubscribed(
  trx: Trx,
  p: { projectId: string; ids: string[]; subscribed: boolean; mode: KeyMode; suppressionKey: Buffer; by: string },
): Promise<Effect> {
  const { rows } = await sql<{ id: string; email: string }>`
    SELECT id, email FROM contacts WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
  const contacts = await upsertContacts(trx, {
    projectId: p.projectId,
    rows: rows.map(({ email }) => ({ email, subscribed: p.subscribed, set: {}, remove: [], by: 'project' })),
    defaultSubscribed: p.subscribed,
    suppressionKey: p.suppressionKey,
    causeId: null,
  });
  const outbox = await recordSubscriptionChanges(trx, {
    projectId: p.projectId,
    contacts,
    mode: p.mode,
    untrustedTrigger: false,
    causeId: null,
    by: p.by,
  });
  const refused = new Set(contacts.filter(({ subscribed }) => subscribed !== p.subscribed).map(({ id }) => id));
  return { succeeded: new Set(rows.map((row) => row.id).filter((id) => !refused.has(id))), refused, outbox };
}

function addOutcome(result: BulkResult, ids: string[], { succeeded, refused }: Effect): BulkResult {
  const failed = ids.filter((id) => !succeeded.has(id.toLowerCase()));
  const errors = failed.map((contactId) => ({
    contactId,
    error: refused?.has(contactId.toLowerCase()) ? PROTECTED : 'No contact of this project has this id.',
  }));
  return {
    ...result,
    successCount: result.successCount + ids.length - failed.length,
    failureCount: result.failureCount + failed.length,
    errors: [...result.errors, ...errors].slice(0, JOB_ERRORS_MAX),
  };
}
