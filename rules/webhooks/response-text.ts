/** The number of bytes of a response that are stored. The first KB is enough for the endpoint's error message. */
const KEPT_BYTES = 1_024;
const MASK = '***';

/**
 * Returns the part of an endpoint's response to store: its first KB, in whole characters. An endpoint may echo the
 * request, so the secret in the endpoint's URL is replaced by `***`, in every form in which it was sent. The secret is
 * the password, or a user name without a password.
 * @param url the URL of the request
 */
export function toStoredResponseText(body: string, url: string): string {
  // Postgres cannot store NUL in a text.
  const plain = listCredentials(url).reduce(
    (text, secret) => text.replaceAll(secret, MASK),
    body.replaceAll('\0', '\uFFFD'),
  );
  const bytes = Buffer.from(plain).subarray(0, KEPT_BYTES);
  // In streaming mode, the decoder omits an incomplete character at the end.
  return new TextDecoder().decode(bytes, { stream: true });
}

/**
 * Lists the secret of a URL in all its forms. The longest form is first, so that a form is replaced before
 * shorter forms that it contains.
 */
function listCredentials(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  const secret = password === '' ? username : password;
  if (secret === '') return [];
  const pair = [username, password].map(decodePercent).join(':');
  const forms = [secret, decodePercent(secret), Buffer.from(pair).toString('base64')];
  return forms.sort((a, b) => b.length - a.length);
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // The text contains a literal `%`.
  }
}
