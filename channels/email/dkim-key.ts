import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

export interface DkimKey {
  /** PKCS #8 in PEM; a secret. */
  privateKey: string;
  /** Value of the TXT record at `<selector>._domainkey.<domain>`. */
  recordValue: string;
}

/** Makes an RSA key pair of 2,048 bits (decisions §11): Ed25519 (RFC 8463) would sign ten times faster, but few receivers verify it. */
export async function makeDkimKey(): Promise<DkimKey> {
  const pair = await generate('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKey: pair.privateKey, recordValue: dkimRecordValue(createPublicKey(pair.publicKey)) };
}

/** The DNS record of a public key, or of the public half of a private one (RFC 6376 §3.6.1). Longer than 255 octets: split it into strings. */
export function dkimRecordValue(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
}
