/** Headers that auto-responders add to their replies; none of them is standardized. */
const MARKS = /^(?:x-auto-?(?:reply|respond|responder|response|generated)(?:-from)?|x-mail-autoreply)$/;
const PRECEDENCES: ReadonlySet<string> = new Set(['auto_reply', 'auto-reply', 'bulk', 'junk']);
const UNMARKED: ReadonlySet<string> = new Set(['', 'no', 'false', 'none']);

type Header = Readonly<{ key: string; value: string }>;

/** Tells whether the headers mark an email as written by a program (RFC 3834 and its forerunners). */
export function hasAutomaticMark(headers: readonly Header[]): boolean {
  return headers.some(({ key, value }) => {
    const word = firstWord(value);
    const name = key.toLowerCase();
    if (name === 'precedence') return PRECEDENCES.has(word);
    if (name === 'auto-submitted' || name === 'x-auto-response-suppress' || MARKS.test(name))
      return !UNMARKED.has(word);
    return false;
  });
}

/**
 * Tells whether an envelope sender or an author is a mail system, whose email must get no reply (RFC 5321 §4.5.5).
 */
export function isMailSystem(address: string): boolean {
  return address === '' || /^mailer-daemon(?:@|$)/i.test(address);
}

/** Reads the value before parameters and without comments: `auto-replied` of `(a trip) Auto-Replied (vacation); owner=x`. */
function firstWord(value: string): string {
  let text = value;
  for (let shorter = ''; shorter !== text; ) {
    shorter = text;
    text = text.replace(/\([^()]*\)/g, ' ');
  }
  return (/^\s*([^\s;(,]*)/.exec(text)?.[1] ?? '').toLowerCase();
}
