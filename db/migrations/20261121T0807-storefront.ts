import { type Kysely, sql } from 'kysely';

/** Product variants of a storefront, and the contacts that wait for a variant. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE storefront_variants (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      variant_id text NOT NULL,
      product_title text NOT NULL,
      title text NOT NULL,
      url text,
      available boolean NOT NULL,
      restock_no int NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, variant_id)
    )`.execute(db);
  await sql`
    CREATE TABLE back_in_stock_waits (
      project_id uuid NOT NULL,
      variant_id text NOT NULL,
      contact_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, variant_id, contact_id),
      FOREIGN KEY (project_id, variant_id) REFERENCES storefront_variants ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX back_in_stock_waits_contact ON back_in_stock_waits (contact_id)`.execute(db);
}
