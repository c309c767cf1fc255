/** A line may have 998 octets (RFC 5322 §2.1.1) and is folded at spaces; a longer word has to be encoded to get any. */
const LONGEST_WORD = 200;
/** RFC 2047 §2: 75 characters an encoded word, of which `=?UTF-8?B??=` are 12; 45 octets are 60 of base64. */
const ENCODED_WORD_BYTES = 45;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL = /[\x00-\x1f\x7f\u2028\u2029]+/g;

/** Text without line ends and control characters: it cannot begin another header. */
export function singleLine(text: string): string {
  return text.replace(CONTROL, ' ').trim();
}

/** A header's text on one line that can be folded: words without a space for too long are encoded (RFC 2047), the rest is left to the composer. */
export function foldableHeader(text: string): string {
  const line = singleLine(text);
  return line.split(' ').some((word) => word.length > LONGEST_WORD) ? encodedWords(line) : line;
}

function encodedWords(text: string): string {
  const words: string[] = [];
  let chunk = '';
  let bytes = 0;
  for (const character of text) {
    const more = Buffer.byteLength(character);
    if (bytes + more > ENCODED_WORD_BYTES) {
      words.push(encodedWord(chunk));
      chunk = '';
      bytes = 0;
    }
    chunk += character;
    bytes += more;
  }
  return [...words, encodedWord(chunk)].join(' ');
}

function encodedWord(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
