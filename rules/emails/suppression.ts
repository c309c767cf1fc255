import { createHmac } from 'node:crypto';
import { normalizeEmail } from './email-address.ts';

/** The block size of SHA-256. HMAC pads a key to one block (RFC 2104 §2). */
const BLOCK_BYTES = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/**
 * The two padded keys of HMAC-SHA256. With them, Postgres can compute the hash of a stored address by its function
 * `sha256()`.
 */
export interface KeyPads {
  inner: Buffer;
  outer: Buffer;
}

/**
 * Returns the hash under which the suppression list stores an address: the HMAC-SHA256 of the normalized address. An
 * entry can therefore remain after the contact is deleted, without storing the address (contract §3.7 Suppressions).
 * @param key the key for suppressions, which is derived from SECRET_KEY
 */
export function computeAddressHash(key: Buffer, email: string): Buffer {
  return createHmac('sha256', key).update(normalizeEmail(email), 'utf8').digest();
}

/**
 * Returns the hash under which the SMS stop list stores a phone number. Phone numbers in E.164 start with a plus and
 * contain no `@`, so no number has the same hash as an email address.
 */
export function computePhoneHash(key: Buffer, phone: string): Buffer {
  return createHmac('sha256', key).update(phone, 'utf8').digest();
}

/** Pads a key of at most 64 bytes to the inner and the outer key of an HMAC. Source: RFC 2104 §2. */
export function padHmacKey(key: Buffer): KeyPads {
  if (key.length > BLOCK_BYTES) throw new RangeError('a suppression key has at most 64 bytes');
  const block = Buffer.alloc(BLOCK_BYTES);
  key.copy(block);
  return {
    inner: block.map((byte) => byte ^ INNER_PAD) as Buffer,
    outer: block.map((byte) => byte ^ OUTER_PAD) as Buffer,
  };
}
