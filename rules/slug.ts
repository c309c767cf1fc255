import slugify from '@sindresorhus/slugify';

/** Keeps `segment.<slug>.entry` well under the 255 characters of an event name. */
export const SLUG_LENGTH = 200;

/** Form of a slug that a user chooses: the form of slugs derived from names. */
export const SLUG_PATTERN = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/**
 * Returns the slug of a name: lower case, separated by hyphens, ASCII. A name without such characters (only emoji, or a
 * script without a transliteration) becomes its code points in hex, so that different names have different slugs.
 */
export function slugOf(name: string): string {
  // Capitals do not separate words: "VIPs" is `vips`, and names that differ only in capitals have the same slug.
  const slug = slugify(name, { decamelize: false }).slice(0, SLUG_LENGTH).replace(/-+$/, '');
  return slug || codePoints(name.trim()) || 'unnamed';
}

/** Returns the slug of a segment's name, which is part of the names of its events. */
export function segmentSlug(name: string): string {
  return name.trim() === '' ? 'segment' : slugOf(name);
}

/** Returns the slug, or the first free one of `welcome-2`, `welcome-3` … if it is taken. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  let free = slug;
  for (let number = 2; taken.has(free); number += 1) {
    const suffix = `-${number}`;
    free = `${slug.slice(0, SLUG_LENGTH - suffix.length).replace(/-+$/, '')}${suffix}`;
  }
  return free;
}

function codePoints(name: string): string {
  const hex = Array.from(name, (char) => (char.codePointAt(0) ?? 0).toString(16));
  return hex.length > 0 ? `u-${hex.join('-')}`.slice(0, SLUG_LENGTH).replace(/-+$/, '') : '';
}
