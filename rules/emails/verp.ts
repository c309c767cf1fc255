import { createHmac, timingSafeEqual } from 'node:crypto';
import { createIdMac, type IdMac } from '../access/id-mac.ts';

/**
 * Hex and lower case, since servers on the way may change the case of a local part (contract §9.9 Authentic
 * feedback).
 */
const LOCAL_PART = /^bounce\+([0-9a-f]{32})([0-9a-f]{20})$/;
/**
 * 80 bits cannot be guessed by sending email, and `bounce+` with id and MAC fits into the 64 characters of a local
 * part.
 */
const MAC_BYTES = 10;

/**
 * Returns the envelope sender of an email. Bounces return to it and identify the email, signed so that no one can
 * forge one (variable envelope return path). `key` is derived for `verp`.
 */
export function verpAddress(key: Buffer, emailId: string, domain: string): string {
  const id = emailId.replaceAll('-', '').toLowerCase();
  return `bounce+${id}${signerOf(key)(Buffer.from(id, 'hex'), 'hex').slice(0, 2 * MAC_BYTES)}@${domain}`;
}

/** Cached by key, because creating a signer costs more than using it. */
const signers = new WeakMap<Buffer, IdMac>();

function signerOf(key: Buffer): IdMac {
  const known = signers.get(key) ?? createIdMac(key);
  signers.set(key, known);
  return known;
}

/** Returns the email id of a return path, in upper or lower case and at any domain. Undefined if it is not ours. */
export function emailIdOfVerp(key: Buffer, address: string): string | undefined {
  const [, id, signature] = LOCAL_PART.exec(address.trim().toLowerCase().replace(/@.*$/s, '')) ?? [];
  if (!id || !signature || !timingSafeEqual(Buffer.from(signature, 'hex'), mac(key, id))) return undefined;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function mac(key: Buffer, id: string): Buffer {
  return createHmac('sha256', key).update(Buffer.from(id, 'hex')).digest().subarray(0, MAC_BYTES);
}
