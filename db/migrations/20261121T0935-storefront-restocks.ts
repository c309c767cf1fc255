import { type Kysely, sql } from 'kysely';

/**
 * Contacts that wait for a restock. The job of a restock notifies the contacts that started to wait before the restock.
 * The choice of contacts is independent of when the job runs and of later changes of the variant. `restock_mode` is the
 * mode of the key that reported the last restock.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE storefront_variants ADD COLUMN restock_mode text NOT NULL DEFAULT 'live'`.execute(db);
  await sql`ALTER TABLE back_in_stock_waits ADD COLUMN after_restock_no int NOT NULL DEFAULT 0`.execute(db);
}
