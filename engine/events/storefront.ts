import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import type { RowOf } from '../../db/schema/database.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { AppError } from '../../rules/errors.ts';
import { BACK_IN_STOCK_EVENT } from '../../rules/events/event-names.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Restock, Variant } from '../../rules/storefront/storefront.ts';
import { recordEvents } from './record-events.ts';

export interface SavedVariant extends Variant {
  isNew: boolean;
  /** Whether this request made the variant available again. */
  restocked: boolean;
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = [
  'variant_id',
  'product_title',
  'title',
  'url',
  'available',
  'restock_no',
  'created_at',
  'updated_at',
] as const;

type VariantRow = RowOf<'storefront_variants', typeof COLUMNS> & { is_new: boolean; restocked: boolean };

type WaitRow = RowOf<'back_in_stock_waits', ['contact_id']> &
  RowOf<'storefront_variants', ['product_title', 'title', 'url', 'restock_mode']>;

/**
 * Creates or replaces variants. If several rows have the same id, the last one counts. When a variant becomes
 * available, this function queues the job that notifies the waiting contacts, in the same transaction. Contacts are
 * therefore notified of a restock once, even if the request is sent several times. Source: contract §10.
 */
export async function upsertVariants(
  trx: Trx,
  p: { projectId: string; mode: KeyMode; variants: Variant[] },
): Promise<{ variants: SavedVariant[]; outbox: OutboxRow[] }> {
  const rows = [...new Map(p.variants.map((variant) => [variant.variantId, variant])).values()];
  // Sorts by id, so that two concurrent statements wait for each other instead of deadlocking.
  const { rows: saved } = await sql<VariantRow>`
    INSERT INTO storefront_variants AS v (project_id, variant_id, product_title, title, url, available)
    SELECT ${p.projectId}, u.* FROM unnest(
      ${rows.map((v) => v.variantId)}::text[], ${rows.map((v) => v.productTitle)}::text[], ${rows.map((v) => v.title)}::text[],
      ${rows.map((v) => v.url)}::text[], ${rows.map((v) => v.available)}::bool[])
      AS u (variant_id, product_title, title, url, available)
    ORDER BY u.variant_id
    ON CONFLICT (project_id, variant_id) DO UPDATE SET
      product_title = excluded.product_title, title = excluded.title, url = excluded.url, available = excluded.available,
      restock_no = v.restock_no + (excluded.available AND NOT v.available)::int,
      restock_mode = CASE WHEN excluded.available AND NOT v.available THEN ${p.mode} ELSE v.restock_mode END,
      updated_at = now()
    RETURNING ${sql.raw(COLUMNS.map((name) => `v.${name}`).join(', '))},
      old.variant_id IS NULL AS is_new, coalesce(new.restock_no > old.restock_no, false) AS restocked
  `.execute(trx);
  const restocked = saved.filter((row) => row.restocked);
  const outbox = await enqueue(
    trx,
    restocked.map((row) => ({
      projectId: p.projectId,
      kind: 'restock.start' as const,
      refId: p.projectId,
      payload: { variantId: row.variant_id, restockNo: row.restock_no },
    })),
  );
  return { variants: saved.map(toVariant), outbox };
}

/**
 * Registers a person who wants to know when a variant is available again. If no contact has the address, a contact is
 * created without a subscription, because this is not consent to marketing (contract §10.5 Back in stock). A second
 * request for the same variant changes nothing. If the variant is available, nothing is registered and `subscribed` is
 * false.
 * @throws AppError NOT_FOUND when the project has no such variant; the caller must then roll back
 */
export async function registerForRestock(
  trx: Trx,
  p: { projectId: string; email: string; variantId: string; suppressionKey: Buffer },
): Promise<{ subscribed: boolean; contactId: string }> {
  const { projectId, variantId } = p;
  const [contact] = await upsertContacts(trx, {
    projectId,
    rows: [{ email: p.email, set: {}, remove: [], by: 'unauthenticated' as const }],
    defaultSubscribed: false,
    suppressionKey: p.suppressionKey,
    causeId: null,
  });
  if (!contact) throw new Error('an upserted contact is missing from its own result');
  // Locks the variant's row (FOR SHARE), so that no restock of the variant runs at the same time. If a restock commits
  // first, this statement sees that the variant is available. If a restock commits later, its job finds the new
  // registration and notifies the person.
  const { rows } = await sql<{ available: boolean; restock_no: number }>`
    SELECT available, restock_no FROM storefront_variants
    WHERE project_id = ${projectId} AND variant_id = ${variantId} FOR SHARE
  `.execute(trx);
  const [variant] = rows;
  if (!variant) throw new AppError('NOT_FOUND', { message: 'The project has no such variant.' });
  if (variant.available) return { subscribed: false, contactId: contact.id };
  await sql`
    INSERT INTO back_in_stock_waits (project_id, variant_id, contact_id, after_restock_no)
    VALUES (${projectId}, ${variantId}, ${contact.id}, ${variant.restock_no})
    ON CONFLICT DO NOTHING
  `.execute(trx);
  return { subscribed: true, contactId: contact.id };
}

/**
 * Notifies a page of contacts of a restock. Deletes their registrations and records the event in one transaction, so
 * each contact is notified once even if a process is killed. Safe to run again and concurrently, because only the
 * transaction that deletes a registration notifies its contact.
 * @returns `done` when no registration is left; `told` is the number of notified contacts
 */
export async function notifyWaitingContacts(
  trx: Trx,
  p: Restock & { limit: number },
): Promise<{ done: boolean; told: number; outbox: OutboxRow[] }> {
  const { projectId, variantId, restockNo } = p;
  const { rows: page } = await sql<{ contact_id: string }>`
    SELECT contact_id FROM back_in_stock_waits
    WHERE project_id = ${projectId} AND variant_id = ${variantId} AND after_restock_no < ${restockNo}
    ORDER BY contact_id LIMIT ${p.limit}
  `.execute(trx);
  if (page.length === 0) return { done: true, told: 0, outbox: [] };
  const ids = page.map((row) => row.contact_id);
  // Locks contacts before registrations, in the same order as the deletion of a contact.
  await lockContacts(trx, { projectId, ids });
  const { rows } = await sql<WaitRow>`
    DELETE FROM back_in_stock_waits w USING contacts c, storefront_variants v
    WHERE w.project_id = ${projectId} AND w.variant_id = ${variantId} AND w.after_restock_no < ${restockNo}
      AND w.contact_id = ANY(${ids}::uuid[]) AND c.project_id = ${projectId} AND c.id = w.contact_id
      AND v.project_id = ${projectId} AND v.variant_id = w.variant_id
    RETURNING w.contact_id, v.product_title, v.title, v.url, v.restock_mode
  `.execute(trx);
  const events = rows.map((row) => ({
    contactId: row.contact_id,
    name: BACK_IN_STOCK_EVENT,
    data: { variantId, productTitle: row.product_title, title: row.title, url: row.url },
    mode: row.restock_mode,
    untrusted: false,
    untrustedTrigger: true, // Any caller with the public key can register any person.
    causeId: null,
  }));
  const { outbox } = await recordEvents(trx, { projectId, events });
  return { done: false, told: rows.length, outbox };
}

function toVariant(row: VariantRow): SavedVariant {
  return {
    variantId: row.variant_id,
    productTitle: row.product_title,
    title: row.title,
    url: row.url,
    available: row.available,
    isNew: row.is_new,
    restocked: row.restocked,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
