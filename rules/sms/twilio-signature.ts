import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Computes the signature of Twilio for a callback: an HMAC-SHA1 over the URL and the sorted parameters (Twilio,
 * "Validating requests").
 */
export function computeTwilioSignature(authToken: string, url: string, params: Record<string, string>): string {
  const text = Object.keys(params)
    .sort()
    .reduce((signed, name) => signed + name + params[name], url);
  return createHmac('sha1', authToken).update(text, 'utf8').digest('base64');
}

/** Tells whether Twilio signed a callback. `url` is the callback's URL as configured at Twilio, including the query. */
export function isTwilioSignature(
  p: { authToken: string; url: string; params: Record<string, string> },
  signature: string | undefined,
): boolean {
  const actual = Buffer.from(signature ?? '', 'base64');
  const expected = Buffer.from(computeTwilioSignature(p.authToken, p.url, p.params), 'base64');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
