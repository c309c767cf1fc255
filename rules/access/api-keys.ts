import { createHash, randomBytes } from 'node:crypto';

/** Mode of a key and of everything done with it. Messages sent with a test key are recorded and reach no provider. */
export type KeyMode = 'live' | 'test';

/**
 * 32 random bytes are impossible to guess. They are written in hexadecimal, so a double click selects the whole key.
 */
const RANDOM_BYTES = 32;
/**
 * The number of random characters of a key that lists show after its prefix, such as `sk_live_`. Users recognize a key
 * by these characters, which give no access.
 */
const SHOWN_RANDOM_CHARS = 6;
const KEY_PATTERN = /^(pk_|sk_(live_|test_)?)[A-Za-z0-9_-]{8,200}$/;

export interface NewKey {
  /** The whole key; shown once and stored nowhere. */
  key: string;
  hash: Buffer;
  /** The short leading part that lists show. */
  prefix: string;
}

/** Creates a secret key, whose prefix shows its mode (contract §2.1 Secret keys). */
export function generateSecretKey(mode: KeyMode): NewKey {
  return generateKey(`sk_${mode}_`);
}

/** Creates a project's public key. The key is not secret, but it is stored and looked up like a secret key. */
export function generatePublicKey(): NewKey {
  return generateKey('pk_');
}

/**
 * Returns the hash by which a key is stored and looked up: the SHA-256 of its whole text. A generated key has 256
 * random bits, so a fast hash is safe.
 */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

/** Tells whether a text has the form of a secret or public key. Any other text is refused without a database query. */
export function isKeyShaped(text: string): boolean {
  return KEY_PATTERN.test(text);
}

function generateKey(kind: string): NewKey {
  const key = kind + randomBytes(RANDOM_BYTES).toString('hex');
  return { key, hash: hashKey(key), prefix: key.slice(0, kind.length + SHOWN_RANDOM_CHARS) };
}
