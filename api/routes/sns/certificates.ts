import { fetch } from 'undici';
import { Lru } from '../../../rules/lru.ts';

const FETCH_MS = 5_000;
/** Certificates of SNS are 2 KB. */
const CERTIFICATE_MAX_CHARS = 32_768;
const KEPT_MS = 60 * 60_000;
const KEPT_MAX = 20;

export interface SnsCertificates {
  /**
   * Returns the PEM text at a URL that the caller has checked. Rejects if it cannot be read, or with the error of
   * `beforeFetch`.
   */
  get(url: URL, beforeFetch: () => void): Promise<string>;
}

/** Fetches certificates of SNS and caches them for one hour. Failures are not cached. */
export function createSnsCertificates(): SnsCertificates {
  const kept = new Lru<string, { text: Promise<string>; untilMs: number }>(KEPT_MAX);
  return {
    async get(url, beforeFetch) {
      const known = kept.get(url.href);
      if (known && known.untilMs > Date.now()) return known.text;
      beforeFetch();
      const text = fetchFromSns(url);
      kept.set(url.href, { text, untilMs: Date.now() + KEPT_MS });
      text.catch(() => kept.delete(url.href));
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
