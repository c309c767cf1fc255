import { createFieldError } from '../errors.ts';
import { sealSecret, unsealSecret } from './secrets.ts';

/** The text that replaces the secret of a URL in responses and in the database. */
const URL_MASK = '***';

/**
 * A URL as the database stores it: the masked URL, and its sealed secret. `sealed` is null if the URL has no secret.
 */
export interface StoredUrl {
  url: string;
  sealed: string | null;
}

/** Offsets of a URL's secret, and of the end of its authority. */
interface SecretLocation {
  from: number;
  to: number;
  authorityEnd: number;
}

const PLACEHOLDER = /\{\{[^{}]*\}\}/g;
/**
 * The authority of a URL (RFC 3986 §3.2) as browsers read it: everything after the slashes, up to the next slash, `?`
 * or `#`.
 */
const AUTHORITY = /^\s*https?:[\\/]*([^\\/?#]*)/i;

/**
 * Returns the URL with `***` instead of its password, or instead of a user name without a password, which is often a
 * token: `https://user:***@example.com`. Variables outside the password or token are kept. A URL without credentials is
 * returned unchanged.
 */
export function maskUrl(url: string): string {
  const location = locateSecret(url);
  return location ? replaceSecret(url, location, URL_MASK) : url;
}

/**
 * Tells whether a URL contains credentials that cannot be separated from the rest of the URL, and so cannot be kept
 * secret. Also true for a text with `@` that is not a URL, because it may contain credentials.
 */
export function hasInseparableCredentials(url: string): boolean {
  if (locateSecret(url) || !url.includes('@')) return false;
  const readings = ['x', '1'].map((filler) => url.replace(PLACEHOLDER, filler)).filter((text) => URL.canParse(text));
  const withCredentials = readings.some((text) => {
    const { username, password } = new URL(text);
    return username !== '' || password !== '';
  });
  return withCredentials || readings.length === 0;
}

/**
 * Seals the secret of a URL for the database. If the secret in the URL is `***`, the secret of `current` is kept, but
 * only for the same scheme, user, host and port. Without this condition, a user who may change the address, but not
 * read the secret, could have the secret sent to a host of their own.
 * @throws AppError VALIDATION_ERROR for `field`
 */
export function sealUrl(p: {
  key: Buffer;
  context: string;
  url: string;
  current?: StoredUrl | undefined;
  field: string;
}): StoredUrl {
  if (hasInseparableCredentials(p.url))
    throw createFieldError(p.field, 'the credentials in this URL cannot be read', 'invalid_string');
  const secret = findSecret(p.url);
  if (secret === undefined) return { url: p.url, sealed: null };
  const plain = secret === URL_MASK ? readStoredSecret(p) : secret;
  return { url: maskUrl(p.url), sealed: sealSecret(p.key, p.context, plain) };
}

/** Returns the stored URL with its secret in clear text. @throws Error if another SECRET_KEY or context sealed it */
export function unsealUrl(p: { key: Buffer; context: string } & StoredUrl): string {
  const location = locateSecret(p.url);
  return location && p.sealed !== null
    ? replaceSecret(p.url, location, unsealSecret(p.key, p.context, p.sealed))
    : p.url;
}

function readStoredSecret(p: Parameters<typeof sealUrl>[0]): string {
  const { current } = p;
  const storedUrl = current && unsealUrl({ key: p.key, context: p.context, ...current });
  const secret = storedUrl && findSecret(storedUrl);
  if (secret !== undefined && current && readAuthority(current.url) === readAuthority(p.url)) return secret;
  const message = `${URL_MASK} stands for a stored password, but no password is stored for this user and host: write the password out`;
  throw createFieldError(p.field, message, 'invalid_string');
}

function findSecret(url: string): string | undefined {
  const location = locateSecret(url);
  return location && url.slice(location.from, location.to);
}

/**
 * Tells whether both URLs have the same scheme, host and port, regardless of their credentials. If the part before the
 * path contains variables, the text of this part must be the same in both URLs, including the credentials.
 */
export function hasSameOrigin(url: string, other: string): boolean {
  const origin = readOrigin(url);
  return url === other || (origin !== undefined && origin === readOrigin(other));
}

/**
 * Returns the origin as a browser reads it. If the part before the path contains variables, returns this part as it is
 * written, with its credentials. Returns undefined if the text is not a URL, or if the start of the path is unknown.
 */
function readOrigin(url: string): string | undefined {
  const text = maskVariables(url);
  const authorityEnd = AUTHORITY.exec(text)?.[0].length ?? 0;
  if (text.slice(0, authorityEnd).includes('{{')) return undefined;
  const written = url.slice(0, authorityEnd);
  if (written.includes('{{')) return written;
  return URL.canParse(written) ? new URL(written).origin : undefined;
}

/** Returns scheme, user, host and port in lower case, with `***` instead of the secret. */
function readAuthority(url: string): string {
  const masked = maskUrl(url);
  return masked.slice(0, locateSecret(masked)?.authorityEnd).toLowerCase();
}

/**
 * Locates the secret: the password, or a user name without a password. The user name ends at the first colon, and the
 * host starts after the last `@`.
 */
function locateSecret(url: string): SecretLocation | undefined {
  const text = maskVariables(url);
  const [whole, authority] = AUTHORITY.exec(text) ?? [];
  if (whole === undefined || authority === undefined) return undefined;
  const at = authority.lastIndexOf('@');
  if (at <= 0) return undefined;
  const start = whole.length - authority.length;
  const colon = authority.slice(0, at).indexOf(':');
  const authorityEnd = whole.length;
  if (colon < 0 || colon === at - 1) return { from: start, to: start + (colon < 0 ? at : colon), authorityEnd };
  return { from: start + colon + 1, to: start + at, authorityEnd };
}

/**
 * Replaces each variable by the same number of harmless characters, because a variable's fallback may contain
 * characters of the URL's syntax.
 */
function maskVariables(url: string): string {
  return url.replace(PLACEHOLDER, (placeholder) => 'x'.repeat(placeholder.length));
}

function replaceSecret(url: string, { from, to }: SecretLocation, by: string): string {
  return url.slice(0, from) + by + url.slice(to);
}
