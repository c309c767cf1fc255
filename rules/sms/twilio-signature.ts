import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * What Twilio signs a callback with: HMAC-SHA1 over the address and the sorted parameters (Twilio, "Validating
 * requests").
 */
export function twilioSignature(authToken: string, url: string, params: Record<string, string>): string {
  const text = Object.keys(params)
    .sort()
    .reduce((signed, name) => signed + name + params[name], url);
  return createHmac('sha1', authToken).update(text, 'utf8').digest('base64');
}

/** Whether a callback is Twilio's: `url` is the address that it was told to call, query included. */
export function isTwilioSignature(
  p: { authToken: string; url: string; params: Record<string, string> },
  signature: string | undefined,
): boolean {
  const given = Buffer.from(signature ?? '', 'base64');
  const expected = Buffer.from(twilioSignature(p.authToken, p.url, p.params), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
