import { fetch } from 'undici';
import { Lru } from '../../../rules/lru.ts';

const FETCH_MS = 5_000;
/** Certificates of SNS are 2 KB. */
const CERTIFICATE_MAX_CHARS = 32_768;
const CACHE_MS = 60 * 60_000;
const CACHE_MAX = 20;

export interface SnsCertificates {
  /**
   * Returns the certificate (PEM) at a URL that the caller has checked. Calls `beforeFetch` unless the certificate is
   * cached. Rejects if the certificate cannot be read, or if `beforeFetch` throws.
   */
  get(url: URL, beforeFetch: () => void): Promise<string>;
}

/** Fetches certificates of SNS and caches them for one hour. Failures are not cached. */
export function createSnsCertificates(): SnsCertificates {
  const certificates = new Lru<string, { text: Promise<string>; untilMs: number }>(CACHE_MAX);
  return {
    async get(url, beforeFetch) {
      const cached = certificates.get(url.href);
      if (cached && cached.untilMs > Date.now()) return cached.text;
      beforeFetch();
      const text = fetchFromSns(url);
      certificates.set(url.href, { text, untilMs: Date.now() + CACHE_MS });
      text.catch(() => certificates.delete(url.href));
      return text;
    },
  };
}

/** Reads an SNS address that the caller has checked. A redirect is an error, because its target was not checked. */
export async function fetchFromSns(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_MS) });
  if (!response.ok) throw new Error(`SNS responded with ${response.status}`);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > CERTIFICATE_MAX_CHARS) throw new Error('the response of SNS is too long');
  }
  return text;
}
