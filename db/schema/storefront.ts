import type { Generated } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { GeneratedTimestamp } from './columns.ts';

/** Products of shops, and the contacts who wait for them. */
export interface StorefrontTables {
  storefront_variants: StorefrontVariantsTable;
  back_in_stock_waits: BackInStockWaitsTable;
}

export interface StorefrontVariantsTable {
  project_id: string;
  variant_id: string;
  product_title: string;
  title: string;
  url: string | null;
  available: boolean;
  restock_no: Generated<number>;
  restock_mode: Generated<KeyMode>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface BackInStockWaitsTable {
  project_id: string;
  variant_id: string;
  contact_id: string;
  after_restock_no: Generated<number>;
  created_at: GeneratedTimestamp;
}
