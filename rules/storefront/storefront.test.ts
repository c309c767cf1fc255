import { describe, expect, it } from 'vitest';
import { readVariantId } from './storefront.ts';

describe('the id of a variant', () => {
  it.each([
    ['4711', '4711'],
    [' 4711 ', '4711'],
    ['gid://shopify/ProductVariant/4711', '4711'],
    ['99999999999999999999', '99999999999999999999'],
  ])('the variant id %j is %s', (text, id) => expect(readVariantId(text)).toBe(id));

  it.each([
    '',
    '0',
    '007',
    '-1',
    '1.5',
    'red',
    'gid://shopify/Product/4711',
    'gid://shopify/ProductVariant/',
    '1'.repeat(21),
  ])('%j is not a variant id', (text) => expect(readVariantId(text)).toBeUndefined());
});
