import { createDkimSigner, type DkimSigner, signMessage } from '../../channels/email/dkim.ts';
import type { Db } from '../../db/connection.ts';
import { findSenderKey } from '../../db/domains/sender-keys.ts';
import type { ClaimedEmail } from '../../db/sending/email-ledger.ts';
import { deriveKey, unsealSecret } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { getDkimKeyContext } from '../../rules/domains/dkim-key.ts';
import { EMAIL_PROVIDERS } from '../../rules/emails/email-providers.ts';
import { Lru } from '../../rules/lru.ts';

/**
 * The number of decrypted keys that a process keeps in memory. Decrypting a key and parsing its PEM text costs more
 * than signing a message.
 */
const KEYS_MAX = 500;

export interface DkimSigners {
  /**
   * Returns the signer for the sender's domain. Undefined when DKIM is off for the domain or for the whole
   * installation.
   */
  findSigner(email: Pick<ClaimedEmail, 'projectId' | 'senderDomain'>): Promise<DkimSigner | undefined>;
  /** The header fields that the provider replaces, which a signature must not cover. */
  readonly rewrittenFields: readonly string[];
  /**
   * Signs the message for its sender's domain. Returns the message unchanged when DKIM is off for the domain or for the
   * whole installation.
   */
  sign(
    email: Pick<ClaimedEmail, 'projectId' | 'senderDomain'>,
    raw: string | Buffer,
    canonical: boolean,
  ): Promise<string | Buffer>;
}

/**
 * Creates the signers with the projects' own keys. A key is decrypted at its first use, and then kept in memory. A
 * domain that is deleted and created again has a new id, and therefore a new key.
 */
export function createDkimSigners({ config, db }: { config: Config; db: Db }): DkimSigners {
  const atRest = deriveKey(config.secretKey, 'at-rest');
  const { rewrittenFields } = EMAIL_PROVIDERS[config.email.provider];
  const signers = new Lru<string, Promise<DkimSigner>>(KEYS_MAX);

  async function loadSigner(projectId: string, domainId: string): Promise<DkimSigner> {
    const key = await findSenderKey(db, { projectId, domainId });
    if (!key) throw new Error('the domain of the sender was removed');
    const privateKey = unsealSecret(atRest, getDkimKeyContext(key.id), key.sealedPrivateKey);
    return createDkimSigner({ domain: key.domain, selector: key.selector, privateKey });
  }

  function getSigner(projectId: string, domainId: string): Promise<DkimSigner> {
    const cached = signers.get(domainId);
    if (cached) return cached;
    const signer = loadSigner(projectId, domainId);
    signers.set(domainId, signer);
    signer.catch(() => signers.delete(domainId));
    return signer;
  }

  const findSigner: DkimSigners['findSigner'] = async ({ projectId, senderDomain }) =>
    config.email.dkimSign && senderDomain?.signing ? getSigner(projectId, senderDomain.id) : undefined;

  return {
    findSigner,
    rewrittenFields,
    async sign(email, raw, canonical) {
      const signer = await findSigner(email);
      return signer ? signMessage(raw, signer, { canonicalBody: canonical, rewrittenFields }) : raw;
    },
  };
}
