/** The maximum length of an untrusted value in an email's text. */
const TEXT_MAX_CHARS = 200;
const SUBJECT_MAX_CHARS = 40;
/**
 * The number of characters that are read. The number is higher than the length that is kept, because links and spaces
 * are removed.
 */
const READ_MAX_CHARS = 2_000;

/**
 * Returns an untrusted value as an email may show it: one line of at most 200 characters, without text that an email
 * client turns into links. Sentences or names without spaces (`it.Thanks`, `J.R.Smith`) are not removed, but get
 * spaces. Cleaning the result again does not change it.
 */
export function cleanUntrustedText(value: string): string {
  return cleanText(value, TEXT_MAX_CHARS);
}

/**
 * Cleans a value for a subject: at most 40 characters, and empty if it contains text like a link. The rule is stricter
 * than for text, because many people read only the subject.
 */
export function cleanUntrustedSubject(value: string): string {
  const words = normalizeText(toOneLine(value.slice(0, READ_MAX_CHARS))).split(' ');
  return words.some((word) => isLink(word) && !isWords(word)) ? '' : cleanText(value, SUBJECT_MAX_CHARS);
}

/**
 * Cleans a value that is directly next to another value. Also removes characters through which two harmless values
 * could form one link.
 */
export function cleanUntrustedPiece(value: string): string {
  const plain = cleanUntrustedText(value).replace(/[^\p{ASCII}…]/gu, (char) =>
    /[.:/@]/.test(normalizeDots(char)) ? ' ' : char,
  );
  return cleanText(plain.replace(JOINTS, ' '), TEXT_MAX_CHARS);
}

/** Applies `clean` to every text and field name in a JSON value; other values do not change. */
export function cleanEachText(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleanEachText(item, clean));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [clean(name), cleanEachText(item, clean)]));
}

/**
 * Removes links and cuts the text, and repeats both until nothing changes, because cutting a text may create a link.
 * Each repetition makes the text shorter.
 */
function cleanText(value: string, max: number): string {
  let text = toOneLine(value.slice(0, READ_MAX_CHARS));
  while (true) {
    const next = cutText(removeLinks(text), max);
    if (next === text) return text;
    text = next;
  }
}

function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const shortened = text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${shortened.trimEnd()}…`;
}

/**
 * Returns the original text if it contains no link in any spelling. Otherwise returns the normalized text without its
 * links.
 */
function removeLinks(text: string): string {
  if (!MAY_LINK.test(text)) return text;
  const words = normalizeText(text).split(' ');
  if (!words.some(isLink)) return text;
  const shortened = words.map((word) => {
    if (!isLink(word)) return removeInvisible(word);
    return isWords(word) ? removeInvisible(word).replaceAll('.', '. ') : '';
  });
  return toOneLine(shortened.join(' '));
}

/** Replaces line breaks and control characters by spaces, and removes characters that change the direction of text. */
function toOneLine(text: string): string {
  return text
    .replace(/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]|\p{Cs}/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/** Normalizes a text as an email client or a browser reads it: Unicode NFKC, and one kind of dot, slash and colon. */
function normalizeText(text: string): string {
  return normalizeDots(text).replace(/ +/g, ' ').trim();
}

function normalizeDots(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/(?<=[a-z0-9]\p{Cf}*)。(?=\p{Cf}*[a-z])/giu, '.')
    .replace(/\[\.\]|\(\.\)|[[(]dot[\])]/gi, '.')
    .replace(/[∕⁄]/g, '/')
    .replace(/[∶꞉]/g, ':');
}

/** Matches invisible characters. An email client may ignore them, or treat them as the end of a word. */
const INVISIBLE = /(?:\p{Cf}|[\uFE00-\uFE0F]|\u034F|[\u115F\u1160\u3164])+/gu;

function removeInvisible(word: string): string {
  return word.replace(INVISIBLE, '');
}

const LETTER = '\\p{L}\\p{M}';
const LABEL = `[${LETTER}\\p{N}_-]`;
/** URL schemes that email clients recognize with a colon but without `//`. */
const SCHEMES =
  'https?|hxxps?|ftps?|mailto|tel|smsto|sms|callto|facetime|skype|whatsapp|viber|tg|xmpp|sips?|javascript|data|blob|file|intent|market|magnet|webcal|geo|bitcoin|ethereum';
/**
 * Matches a word that contains a URL, an email address, a host, or an IP address with a port or a path. The last label
 * of a host has at least two letters, so 3.5, 10.30 and a.m. are not hosts. Each pattern reads every character only a
 * few times, to keep long input cheap.
 */
const LINK = new RegExp(
  [
    ':\\/\\/',
    `(?<![${LETTER}\\p{N}])(?:${SCHEMES}):.`,
    `(?<![${LETTER}\\p{N}])www\\d*\\..`,
    '@[^@]*\\.|@\\[',
    `(?<!${LABEL}|${LABEL}\\.)(?:${LABEL}+\\.)+(?:[${LETTER}]{2,}|xn--[a-z0-9-]+)(?![${LETTER}\\p{N}_])`,
    `(?<![\\p{N}.])(?:\\p{N}{1,3}\\.){3}\\p{N}{1,3}[:/]`,
  ].join('|'),
  'iu',
);
/** A fast check that is enough for most values: every link contains one of these characters. */
const MAY_LINK = /[.:@([]|[^\p{ASCII}\p{L}\p{M}]|[\uFF00-\uFFEF]/u;

function isLink(word: string): boolean {
  return LINK.test(removeInvisible(word)) || word.split(INVISIBLE).some((part) => LINK.test(part));
}

/**
 * Tells whether a word is a sentence or a name without spaces, and not a host: it has only letters and dots, and its
 * last part starts with a capital letter or is in a script without capitals.
 */
function isWords(word: string): boolean {
  const core = removeInvisible(word).replace(/^[("'“‘«]+|[)"'”’».,;:!?]+$/g, '');
  if (!/^[\p{L}\p{M}.'’-]+$/u.test(core)) return false;
  const last = core.slice(core.lastIndexOf('.') + 1);
  return /^\p{Lu}[\p{Ll}\p{M}'’-]+$/u.test(last) || !/[\p{Lu}\p{Ll}]/u.test(last);
}

/** Matches characters that join the parts of an address, but not characters inside a number or a time. */
const JOINTS = /(?<!\p{N})[.:/\\@]+|[.:/\\@]+(?!\p{N})/gu;
