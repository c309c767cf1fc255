/** Enough to see the endpoint's message, and small compared with the payload. */
const KEPT_BYTES = 1_024;
const MASK = '***';

/**
 * Returns the stored part of an endpoint's response: its first KB, in whole characters. An endpoint may echo the
 * request. The credentials of its URL are replaced by `***`, in every form in which they were sent.
 * @param url the address as it was called
 */
export function storedResponseText(body: string, url: string): string {
  // Postgres cannot store NUL in a text.
  const plain = credentialsOf(url).reduce(
    (text, secret) => text.replaceAll(secret, MASK),
    body.replaceAll('\0', '\uFFFD'),
  );
  const bytes = Buffer.from(plain).subarray(0, KEPT_BYTES);
  // In streaming mode, an incomplete character at the end is omitted.
  return new TextDecoder().decode(bytes, { stream: true });
}

/** Lists the credentials of a URL, the longest first, so that a credential is replaced before its own parts. */
function credentialsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  const secret = password === '' ? username : password;
  if (secret === '') return [];
  const pair = [username, password].map(percentDecoded).join(':');
  const written = [secret, percentDecoded(secret), Buffer.from(pair).toString('base64')];
  return written.sort((a, b) => b.length - a.length);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A literal `%`.
  }
}
