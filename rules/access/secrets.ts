import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Purposes of keys derived from SECRET_KEY. Each purpose has its own key, so a leaked key gives access to nothing else.
 */
export type KeyPurpose =
  | 'links'
  | 'at-rest'
  | 'suppression'
  | 'verp'
  | 'rate-limit'
  | 'public-ids'
  | 'public-callers'
  | 'accounts'
  | 'routes';

const KEY_BYTES = 32;
/** 96 bits is the recommended nonce length of GCM (NIST SP 800-38D §5.2.1.1). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of a sealed secret. A new format would use another value. */
const VERSION = 1;

/**
 * Returns the 32-byte key of a purpose, by HKDF-SHA256 (RFC 5869) from SECRET_KEY. The same input always gives the
 * same key.
 */
export function deriveKey(secretKey: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'tidings', purpose, KEY_BYTES));
}

/**
 * Seals a secret for the database: AES-256-GCM under `deriveKey(…, 'at-rest')`, as base64. `context` names the column
 * and the row that store the secret (`domains.dkim_private_key:<id>`). The secret can be opened only with this context,
 * so a value that is copied to another row is useless. Source: contract §2.9 Secrets at rest.
 */
export function sealSecret(key: Buffer, context: string, plaintext: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context, 'utf8'));
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/**
 * Opens a secret that `sealSecret` sealed with the same key and context.
 * @throws Error if the sealed text was changed, or if another SECRET_KEY or context sealed it
 */
export function unsealSecret(key: Buffer, context: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes[0] !== VERSION || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed secret');
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context, 'utf8')).setAuthTag(tag);
  const body = bytes.subarray(1 + NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

const DOTS = '••••';
const SHOWN_CHARACTERS = 4;

/** Returns a secret as responses show it: its first four characters and dots, or only dots if the secret is short. */
export function maskSecret(secret: string): string {
  return secret.length > 12 ? secret.slice(0, SHOWN_CHARACTERS) + DOTS : DOTS;
}

/**
 * Tells whether a value from a client looks like a result of `maskSecret`, so it must not replace the stored secret.
 */
export function isMaskedSecret(value: string): boolean {
  return value.endsWith(DOTS) && value.length <= SHOWN_CHARACTERS + DOTS.length;
}
