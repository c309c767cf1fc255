import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * RFC 6376 §3.3.3 recommends keys of at least 2,048 bits. Longer ones do not fit into one DNS string. Ed25519 (RFC
 * 8463) would sign ten times faster, but few receivers verify it.
 */
const MODULUS_BITS = 2048;

export interface DkimKey {
  /** PKCS #8 PEM. It is stored only sealed, in the context of `dkimKeyContext`. */
  privateKey: string;
  /** Base64 of the SubjectPublicKeyInfo: the `p=` of the DNS record (RFC 6376 §3.6.1). */
  publicKey: string;
}

/** Creates the RSA key pair of a domain, which takes about 0.1 s outside the event loop. */
export async function newDkimKey(): Promise<DkimKey> {
  const pair = await promisify(generateKeyPair)('rsa', {
    modulusLength: MODULUS_BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { privateKey: pair.privateKey, publicKey: pair.publicKey.toString('base64') };
}

/** Returns the DNS record of a domain's key (RFC 6376 §3.6.1). It is longer than the 255 octets of one string. */
export function dkimRecordValue(publicKey: string): string {
  return `v=DKIM1; k=rsa; p=${publicKey}`;
}

/** Returns the context in which a domain's private key is sealed (`sealSecret`). */
export function dkimKeyContext(domainId: string): string {
  return `domains.dkim_private_key:${domainId}`;
}
