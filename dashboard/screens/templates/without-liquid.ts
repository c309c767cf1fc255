/**
 * A body roughly as somebody reads it: tags of Liquid are gone, an output is its fallback or the name that it asks for.
 * For small pictures of templates, which say nothing of one reader; what is sent the API renders.
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
  // Nothing of it may end an attribute or begin a tag: it stands where a value would have been escaped.
  return value
    .trim()
    .replaceAll(/^(['"])(.*)\1$/g, '$2')
    .replaceAll(/[<>"'&]/g, '');
}
