/** The maximum number of variants in one `PUT /storefront/variants` (contract §10.5 Back in stock). */
export const VARIANTS_MAX = 500;

const VARIANT_ID = /^(?:gid:\/\/shopify\/ProductVariant\/)?([1-9]\d{0,19})$/;

/**
 * Returns the number of a variant. `gid://shopify/ProductVariant/N` and `N` are the same id (contract §10.5 Back in
 * stock). Undefined for any other text.
 */
export function readVariantId(text: string): string | undefined {
  return VARIANT_ID.exec(text.trim())?.[1];
}

/** A product variant. */
export interface Variant {
  /** The number of the variant, without the prefix `gid://…`. */
  variantId: string;
  productTitle: string;
  title: string;
  url: string | null;
  available: boolean;
}

/** The input of the workflow for one restock, which notifies all contacts that started to wait before the restock. */
export interface Restock {
  projectId: string;
  variantId: string;
  /** The number of this restock, counted for the variant. */
  restockNo: number;
}
