import { createHmac, timingSafeEqual } from 'node:crypto';
import { createIdMac, type IdMac } from '../access/id-mac.ts';

/**
 * Matches `bounce+`, the id and the MAC in lower case. The id and the MAC are hexadecimal, so they stay readable if a
 * server on the way changes the case of the local part (contract §9.9 Authentic feedback).
 */
const LOCAL_PART = /^bounce\+([0-9a-f]{32})([0-9a-f]{20})$/;
/**
 * The length of the MAC. An attacker cannot guess 80 bits by sending email, and `bounce+`, the id and the MAC together
 * fit into the 64 characters of a local part.
 */
const MAC_BYTES = 10;

/**
 * Returns the envelope sender of an email (VERP, variable envelope return path). Bounces are sent to this address,
 * which contains the id of the email and a MAC, so that no one can forge a bounce. `key` is the derived key for `verp`.
 */
export function createVerpAddress(key: Buffer, emailId: string, domain: string): string {
  const id = emailId.replaceAll('-', '').toLowerCase();
  return `bounce+${id}${getSigner(key)(Buffer.from(id, 'hex'), 'hex').slice(0, 2 * MAC_BYTES)}@${domain}`;
}

/** The signers by key. Signers are cached, because creating one takes longer than using it. */
const signers = new WeakMap<Buffer, IdMac>();

function getSigner(key: Buffer): IdMac {
  const signer = signers.get(key) ?? createIdMac(key);
  signers.set(key, signer);
  return signer;
}

/**
 * Returns the email id in a return path, in upper or lower case and at any domain. Undefined if this service did not
 * create the return path.
 */
export function parseVerpAddress(key: Buffer, address: string): string | undefined {
  const [, id, signature] = LOCAL_PART.exec(address.trim().toLowerCase().replace(/@.*$/s, '')) ?? [];
  if (!id || !signature || !timingSafeEqual(Buffer.from(signature, 'hex'), computeMac(key, id))) return undefined;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function computeMac(key: Buffer, id: string): Buffer {
  return createHmac('sha256', key).update(Buffer.from(id, 'hex')).digest().subarray(0, MAC_BYTES);
}
