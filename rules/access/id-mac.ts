import { createHash, hash } from 'node:crypto';

/**
 * Computes the HMAC-SHA256 (RFC 2104) of ids of 16 bytes under one key, with two calls of Node's one-shot `hash`. The
 * encoding `binary` has one character per byte. `createHmac` creates an OpenSSL object each time, which the garbage
 * collector has to free. For the two MACs of a campaign email, `createHmac` took 20 % of the time to compose and send
 * the email.
 */
export type IdMac = (id: Buffer, encoding: 'hex' | 'binary') => string;

const BLOCK_BYTES = 64;
const ID_BYTES = 16;
const HASH_BYTES = 32;

/** Creates the function that computes MACs under `secret`. Hashes a key that is longer than a block first. */
export function createIdMac(secret: Buffer): IdMac {
  const key = secret.length > BLOCK_BYTES ? createHash('sha256').update(secret).digest() : secret;
  const inner = padKey(key, 0x36, ID_BYTES);
  const outer = padKey(key, 0x5c, HASH_BYTES);
  return (id, encoding) => {
    if (id.length !== ID_BYTES) throw new Error(`an id has ${ID_BYTES} bytes`);
    id.copy(inner, BLOCK_BYTES);
    outer.write(hash('sha256', inner, 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, encoding);
  };
}

/** Returns the key, padded to a block, with space for the data to hash. */
function padKey(key: Buffer, pad: number, dataBytes: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES + dataBytes, pad);
  for (const [n, byte] of key.entries()) block[n] = byte ^ pad;
  return block;
}
