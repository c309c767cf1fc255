import slugify from '@sindresorhus/slugify';

/**
 * The maximum length of a slug. The event name `segment.<slug>.entry` is then well below its limit of 255 characters.
 */
export const SLUG_LENGTH = 200;

/** The form of a slug that a user chooses. Slugs that are derived from names have the same form. */
export const SLUG_PATTERN = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/**
 * Derives a slug from a name: ASCII in lower case, with hyphens between words. If a name has no characters that can be
 * transliterated (only emoji, for example), the slug consists of its code points in hexadecimal, so that different
 * names have different slugs.
 */
export function toSlug(name: string): string {
  // Capital letters do not separate words: "VIPs" becomes `vips`, and names that differ only in capitals have the same
  // slug.
  const slug = slugify(name, { decamelize: false }).slice(0, SLUG_LENGTH).replace(/-+$/, '');
  return slug || toCodePoints(name.trim()) || 'unnamed';
}

/** Derives the slug of a segment from its name. The names of the segment's events contain this slug. */
export function toSegmentSlug(name: string): string {
  return name.trim() === '' ? 'segment' : toSlug(name);
}

/** Returns the slug if it is not in `taken`, else the first free slug of `welcome-2`, `welcome-3` and so on. */
export function findFreeSlug(slug: string, taken: ReadonlySet<string>): string {
  let free = slug;
  for (let number = 2; taken.has(free); number += 1) {
    const suffix = `-${number}`;
    free = `${slug.slice(0, SLUG_LENGTH - suffix.length).replace(/-+$/, '')}${suffix}`;
  }
  return free;
}

function toCodePoints(name: string): string {
  const hex = Array.from(name, (char) => (char.codePointAt(0) ?? 0).toString(16));
  return hex.length > 0 ? `u-${hex.join('-')}`.slice(0, SLUG_LENGTH).replace(/-+$/, '') : '';
}
