/** Most variants of one `PUT /storefront/variants` (contract §10.5 Back in stock). */
export const VARIANTS_MAX = 500;

const VARIANT_ID = /^(?:gid:\/\/shopify\/ProductVariant\/)?([1-9]\d{0,19})$/;

/**
 * Returns the bare number of a variant: `gid://shopify/ProductVariant/N` and `N` are the same id (contract §10.5 Back
 * in stock). Undefined for other text.
 */
export function readVariantId(text: string): string | undefined {
  return VARIANT_ID.exec(text.trim())?.[1];
}

/** A product variant. */
export interface Variant {
  /** The bare number. */
  variantId: string;
  productTitle: string;
  title: string;
  url: string | null;
  available: boolean;
}

/** Input of the durable job of one restock: all contacts that started to wait before it. */
export interface Restock {
  projectId: string;
  variantId: string;
  /** The number of restocks of the variant. */
  restockNo: number;
}
