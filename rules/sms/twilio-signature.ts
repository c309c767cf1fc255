import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns Twilio's signature of a callback: HMAC-SHA1 over the address and the sorted parameters (Twilio, "Validating
 * requests").
 */
export function twilioSignature(authToken: string, url: string, params: Record<string, string>): string {
  const text = Object.keys(params)
    .sort()
    .reduce((signed, name) => signed + name + params[name], url);
  return createHmac('sha1', authToken).update(text, 'utf8').digest('base64');
}

/** Tells whether Twilio signed a callback. `url` is the callback address that Twilio has, including the query. */
export function isTwilioSignature(
  p: { authToken: string; url: string; params: Record<string, string> },
  signature: string | undefined,
): boolean {
  const given = Buffer.from(signature ?? '', 'base64');
  const expected = Buffer.from(twilioSignature(p.authToken, p.url, p.params), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
