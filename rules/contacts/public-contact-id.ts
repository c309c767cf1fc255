import { createHmac } from 'node:crypto';
import { stringify } from 'uuid';
import { normalizeEmail } from '../emails/email-address.ts';

const UUID_BYTES = 16;

/**
 * Returns the id of a contact for responses to the public key. Anyone can read the public key from a web page, so this
 * id must reveal nothing: it is an HMAC-SHA256 of the project and the address, under a key derived from SECRET_KEY. One
 * address always gets the same id, whether or not the project has a contact with this address. No other operation
 * accepts this id. The id is a UUID of version 8 (RFC 9562 §5.8).
 */
export function computePublicContactId(key: Buffer, p: { projectId: string; email: string }): string {
  const bytes = createHmac('sha256', key)
    .update(`${p.projectId} ${normalizeEmail(p.email)}`)
    .digest();
  bytes.writeUInt8(((bytes[6] ?? 0) & 0x0f) | 0x80, 6);
  bytes.writeUInt8(((bytes[8] ?? 0) & 0x3f) | 0x80, 8);
  return stringify(bytes.subarray(0, UUID_BYTES));
}
