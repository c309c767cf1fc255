import slugify from '@sindresorhus/slugify';

/** Keeps `segment.<slug>.entry` well under the 255 characters of an event name. */
const SLUG_LENGTH = 200;

/**
 * The slug of a segment's name: lower case, hyphen separated, ASCII. A name that leaves nothing (only emoji, or a
 * script without a transliteration) falls back to its code points in hex, so that different names keep different slugs.
 */
export function segmentSlug(name: string): string {
  // Capitals are no word borders: "VIPs" is `vips`, and a name in other capitals has the same slug.
  const slug = slugify(name, { decamelize: false }).slice(0, SLUG_LENGTH).replace(/-+$/, '');
  return slug || codePoints(name.trim()) || 'segment';
}

function codePoints(name: string): string {
  const hex = Array.from(name, (char) => (char.codePointAt(0) ?? 0).toString(16));
  return hex.length > 0 ? `u-${hex.join('-')}`.slice(0, SLUG_LENGTH).replace(/-+$/, '') : '';
}
