import { createAttributeEdit, type SourceEdit } from './source-edits.ts';
import type { OpeningTag } from './source-parts.ts';

/** Declarations of a style attribute: property and value; no value removes the property. */
export type Styles = Record<string, string | undefined>;

/** Returns the value of a property in the style attribute of a tag; undefined if it is not set. */
export function readStyle(source: string, tag: OpeningTag, property: string): string | undefined {
  return findDeclaration(readStyleAttribute(source, tag), property)?.value;
}

/**
 * Returns the length in pixels of a property. If only its shorthand is set (`margin:0 0 16px`), returns the value of
 * the bottom side for `-bottom`, and otherwise the first value.
 */
export function readPixels(source: string, tag: OpeningTag, property: string): number | undefined {
  const [name = '', side] = property.split('-');
  const ownValue = readStyle(source, tag, property);
  const sides = (ownValue ?? readStyle(source, tag, name) ?? '').trim().split(/\s+/);
  const value = ownValue === undefined && side === 'bottom' ? (sides[2] ?? sides[0]) : sides[0];
  const pixels = /^(\d+(?:\.\d+)?)(?:px)?$/.exec(value ?? '')?.[1];
  return pixels === undefined ? undefined : Number(pixels);
}

/** Returns the edit that sets or removes properties in the style attribute. Other declarations keep their bytes. */
export function createStyleEdit(source: string, tag: OpeningTag, styles: Styles): SourceEdit {
  let style = readStyleAttribute(source, tag);
  for (const [property, value] of Object.entries(styles)) style = withDeclaration(style, property, value);
  const range = tag.attributes.get('style');
  // The value is not escaped again: colors, lengths and words have no characters to escape.
  if (range && range.quote !== '') return { start: range.start, end: range.end, replacement: style };
  return createAttributeEdit(tag, 'style', style);
}

function readStyleAttribute(source: string, tag: OpeningTag): string {
  const range = tag.attributes.get('style');
  return range ? source.slice(range.start, range.end) : '';
}

/** Finds a property's declaration in a style attribute. If there are several, browsers use the last one. */
function findDeclaration(style: string, property: string) {
  const match = [...style.matchAll(new RegExp(`(^|;)\\s*${property}\\s*:([^;]*)`, 'gi'))].at(-1);
  if (!match) return undefined;
  const [declaration, separator = '', value = ''] = match;
  return { start: match.index + separator.length, end: match.index + declaration.length, value: value.trim() };
}

function withDeclaration(style: string, property: string, value: string | undefined): string {
  const old = findDeclaration(style, property);
  if (value === undefined) return old ? style.slice(0, old.start) + style.slice(old.end).replace(/^;/, '') : style;
  const declaration = `${property}:${value}`;
  if (old) return style.slice(0, old.start) + declaration + style.slice(old.end);
  return style.trim() === '' || style.trim().endsWith(';') ? style + declaration : `${style};${declaration}`;
}
