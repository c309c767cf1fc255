/** A part of a text: a variable in simple Liquid, or anything else. The sources of all pieces make up the text. */
export interface TextPiece {
  source: string;
  /** The variable with its path as people read it. Undefined for any other text. */
  variable?: { name: string; fallback: string | undefined };
}

/** Matches an output without braces in it. Three braces are not an output. */
const OUTPUT = /(?<!\{)\{\{([^{}]*)\}\}(?!\})/g;
const NAME = '[A-Za-z_][\\w-]*';
/** A path, alone or with a fallback after `??` or in the filter `default`. */
const SIMPLE = new RegExp(
  `^(?:(${NAME}(?:\\.${NAME})*)|data\\[(?:"([^"]+)"|'([^']+)')\\])(?:\\s*(?:\\?\\?|(\\|)\\s*default:)\\s*(.+))?$`,
);
/** Words with a meaning of their own in Liquid. */
const LITERALS = new Set(['true', 'false', 'nil', 'null', 'empty', 'blank']);
const COMPUTED = /\.(?:size|first|last)(?:\.|$)/;
const QUOTED = /^(?:"([^"]*)"|'([^']*)')$/;
const BARE_WORDS = /^[^"'|?]+$/;
const ACRONYMS: Readonly<Record<string, string>> = { id: 'ID', url: 'URL' };

/** Splits a text into its simple variables and the text between them. */
export function splitAtVariables(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const match of text.matchAll(OUTPUT)) {
    const variable = readVariable((match[1] ?? '').trim());
    if (!variable) continue;
    if (match.index > at) pieces.push({ source: text.slice(at, match.index) });
    pieces.push({ source: match[0], variable });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ source: text.slice(at) });
  return pieces;
}

function readVariable(expression: string): TextPiece['variable'] {
  const [whole, path, ...rest] = SIMPLE.exec(expression) ?? [];
  if (whole === undefined) return undefined;
  const [doubleQuotedKey, singleQuotedKey, filter, written] = rest;
  const key = doubleQuotedKey ?? singleQuotedKey;
  if (path !== undefined && (LITERALS.has(path) || COMPUTED.test(path))) return undefined;
  const fallback = written === undefined ? undefined : readFallback(written, filter === undefined);
  if (written !== undefined && fallback === undefined) return undefined;
  return { name: path === undefined ? (key ?? '') : describePath(path), fallback: fallback || undefined };
}

/** Returns the text of a fallback. Undefined if it is not literal. After `??`, it may be without quotes. */
function readFallback(written: string, mayBeBare: boolean): string | undefined {
  const quoted = QUOTED.exec(written);
  if (quoted) return quoted[1] ?? quoted[2];
  return mayBeBare && BARE_WORDS.test(written) ? written : undefined;
}

/** Turns `data.firstName` into "First name", and `event.order_id` into "Event order ID". */
function describePath(path: string): string {
  const words = path
    .replace(/^data\./, '')
    .replaceAll(/[._-]+/g, ' ')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase()
    .split(' ')
    .map((word) => ACRONYMS[word] ?? word)
    .join(' ');
  return words === '' ? path : words.charAt(0).toUpperCase() + words.slice(1);
}
