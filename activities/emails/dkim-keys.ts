import { type DkimSigner, dkimSigner, signMessage } from '../../channels/email/dkim.ts';
import type { Db } from '../../db/connection.ts';
import { findSenderKey } from '../../db/domains/sender-keys.ts';
import type { ClaimedEmail } from '../../db/sending/email-ledger.ts';
import { deriveKey, openSecret } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { dkimKeyContext } from '../../rules/domains/dkim-key.ts';
import { EMAIL_PROVIDERS } from '../../rules/emails/email-providers.ts';
import { Lru } from '../../rules/lru.ts';

/**
 * The number of opened keys that a process keeps, because opening a key and reading its PEM costs more than signing.
 */
const KEYS_MAX = 500;

export interface DkimKeys {
  /** Returns the signer for the sender's domain; undefined when the domain or the deployment does not sign. */
  signerOf(email: Pick<ClaimedEmail, 'projectId' | 'senderDomain'>): Promise<DkimSigner | undefined>;
  readonly rewrittenFields: readonly string[];
  /**
   * Signs the message for its sender's domain. Returns it unchanged when the domain or the deployment does not sign.
   */
  sign(
    email: Pick<ClaimedEmail, 'projectId' | 'senderDomain'>,
    raw: string | Buffer,
    canonical: boolean,
  ): Promise<string | Buffer>;
}

/**
 * Signs with the projects' own keys, and opens each key once. A domain that is created again has another id, and
 * therefore another key.
 */
export function createDkimKeys({ config, db }: { config: Config; db: Db }): DkimKeys {
  const atRest = deriveKey(config.secretKey, 'at-rest');
  const { rewrittenFields } = EMAIL_PROVIDERS[config.email.provider];
  const signers = new Lru<string, Promise<DkimSigner>>(KEYS_MAX);

  async function open(projectId: string, domainId: string): Promise<DkimSigner> {
    const key = await findSenderKey(db, { projectId, domainId });
    if (!key) throw new Error('the domain of the sender was removed');
    const privateKey = openSecret(atRest, dkimKeyContext(key.id), key.sealedPrivateKey);
    return dkimSigner({ domain: key.domain, selector: key.selector, privateKey });
  }

  function openKey(projectId: string, domainId: string): Promise<DkimSigner> {
    const kept = signers.get(domainId);
    if (kept) return kept;
    const signer = open(projectId, domainId);
    signers.set(domainId, signer);
    signer.catch(() => signers.delete(domainId));
    return signer;
  }

  const signerOf: DkimKeys['signerOf'] = async ({ projectId, senderDomain }) =>
    config.email.dkimSign && senderDomain?.signing ? openKey(projectId, senderDomain.id) : undefined;

  return {
    signerOf,
    rewrittenFields,
    async sign(email, raw, canonical) {
      const signer = await signerOf(email);
      return signer ? signMessage(raw, signer, { canonicalBody: canonical, rewrittenFields }) : raw;
    },
  };
}
