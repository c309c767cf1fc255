/**
 * Returns a subject or body roughly as recipients read it: Liquid tags are removed, and an output becomes its fallback
 * or its name. Only for lists and thumbnails; the API renders emails that are sent.
 */
export function withoutLiquid(body: string): string {
  return body
    .replaceAll(/\{%-?\s*comment[\s\S]*?endcomment\s*-?%\}/g, '')
    .replaceAll(/\{%[\s\S]*?%\}/g, '')
    .replaceAll(/\{\{([\s\S]*?)\}\}/g, (_, said: string) => outputOf(said));
}

function outputOf(said: string): string {
  const [asked = '', fallback] = said.replaceAll(/^-|-$/g, '').split('??');
  const value = fallback ?? /default:\s*([^|]+)/.exec(said)?.[1] ?? asked.split('|')[0] ?? '';
  // A value was escaped at this place, so the text may not end an attribute or start a tag.
  return value
    .trim()
    .replaceAll(/^(['"])(.*)\1$/g, '$2')
    .replaceAll(/[<>"'&]/g, '');
}
