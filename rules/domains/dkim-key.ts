import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * RFC 6376 §3.3.3: signers should use keys of 2,048 bits at least; longer ones do not fit one DNS string. Ed25519 (RFC
 * 8463) would sign ten times faster, but few receivers verify it.
 */
const MODULUS_BITS = 2048;

export interface DkimKey {
  /** PKCS #8 PEM. Stored sealed only, in the context of `dkimKeyContext`. */
  privateKey: string;
  /** Base64 of the SubjectPublicKeyInfo: the `p=` of the DNS record (RFC 6376 §3.6.1). */
  publicKey: string;
}

/** Makes the RSA key pair of a domain; takes about 0.1 s, off the event loop. */
export async function newDkimKey(): Promise<DkimKey> {
  const pair = await promisify(generateKeyPair)('rsa', {
    modulusLength: MODULUS_BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { privateKey: pair.privateKey, publicKey: pair.publicKey.toString('base64') };
}

/** The DNS record of a domain's key (RFC 6376 §3.6.1). It is longer than the 255 octets of one string. */
export function dkimRecordValue(publicKey: string): string {
  return `v=DKIM1; k=rsa; p=${publicKey}`;
}

/** The context in which a domain's private key is sealed (`sealSecret`). */
export function dkimKeyContext(domainId: string): string {
  return `domains.dkim_private_key:${domainId}`;
}
