/** Most variants of one `PUT /storefront/variants` (contract §10.5). */
export const VARIANTS_MAX = 500;

const VARIANT_ID = /^(?:gid:\/\/shopify\/ProductVariant\/)?([1-9]\d{0,19})$/;

/**
 * The bare number of a variant: `gid://shopify/ProductVariant/N` and `N` are the same id (contract §10.5). Undefined
 * for what is neither.
 */
export function readVariantId(text: string): string | undefined {
  return VARIANT_ID.exec(text.trim())?.[1];
}

/** What a variant is to the people who buy it. */
export interface Variant {
  /** The bare number. */
  variantId: string;
  productTitle: string;
  title: string;
  url: string | null;
  available: boolean;
}

/** What the durable job of one restock is about: everyone who began to wait before it. */
export interface Restock {
  projectId: string;
  variantId: string;
  /** Counts how often the variant came back. */
  restockNo: number;
}
