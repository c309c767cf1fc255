import type { OutgoingEmail } from '../../channels/email/provider.ts';
import type { Compute } from '../../compute/compute.ts';
import type { StoredContent } from '../../compute/content-cache.ts';
import type { ClaimedRecipient } from '../../db/campaigns/claims.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { renderMime, renderSubject } from '../../rules/content/content.ts';
import { createLinkTokens, createMessageId } from '../../rules/content/link-tokens.ts';
import { buildVariables } from '../../rules/content/variables.ts';
import { emailDomain } from '../../rules/emails/email-address.ts';
import type { EmailEventData } from '../../rules/emails/email-event.ts';
import { createVerpAddress } from '../../rules/emails/verp.ts';
import { markUntrusted } from '../../rules/provenance/provenance.ts';

/**
 * The longest time that a turn waits for the project's computing budget. If the wait would be longer, the turn ends,
 * and other work can use its slot.
 */
const WAIT_HERE_MS = 1_000;

/** Composes the messages of one content. */
export interface CampaignComposer {
  /** The keys of the contact data that the content uses. A claim loads only these keys. */
  dataKeys: string[] | 'all';
  /** Whether a message may take long to compose. If so, use `composeCostly`. */
  costly: boolean;
  /**
   * Composes a message. The same recipient gets the same message, except for its Date.
   * @throws TemplateError
   */
  compose(recipient: ClaimedRecipient): OutgoingEmail;
  /**
   * Composes the message in a thread when the computing budget serves the project.
   * @throws TemplateError, OverBudget
   */
  composeCostly(recipient: ClaimedRecipient): Promise<OutgoingEmail>;
  /** Builds the event data of a recipient's composed email. @throws TemplateError */
  buildEventData(recipient: ClaimedRecipient): EmailEventData;
}

export function createCampaignComposer(p: {
  config: Config;
  campaignId: string;
  compute: Compute;
  stored: StoredContent;
  /** The project's time zone. Dates in the message are shown in this zone. */
  zone: string;
  /** The return path of the sender's domain, see `FoundRecords`. */
  returnPathHost?: string | null | undefined;
}): CampaignComposer {
  const { config, campaignId, compute } = p;
  const { content, ready } = p.stored;
  const { compiled, key, source } = ready;
  const domain = emailDomain(content.from);
  const returnDomain = config.email.returnPathDomain ?? p.returnPathHost ?? domain;
  const verpKey = deriveKey(config.secretKey, 'verp');
  const from = { name: content.fromName, email: content.from };
  const replyTo = content.replyTo ? { email: content.replyTo } : null;
  const dataKeys = ready.variables === '*' ? ('all' as const) : ready.variables;

  function buildInput(recipient: ClaimedRecipient) {
    const { id, contactId, email, untrustedKeys } = recipient;
    return {
      vars: buildVariables({
        contact: { id: contactId, email, data: markUntrusted(pickData(recipient, dataKeys), untrustedKeys) },
        zone: p.zone,
      }),
      urls: { baseUrl: config.publicUrl, ...createLinkTokens(config.secretKey, id) },
    };
  }

  const work = { projectId: content.projectId, kind: 'campaign.message', bulk: true, maxWaitMs: WAIT_HERE_MS };
  /**
   * The subjects of costly content. `composeCostly` composes a subject together with its message, and
   * `buildEventData` reads the subject here.
   */
  const subjects = new WeakMap<ClaimedRecipient, string>();

  function toOutgoingEmail({ id, email }: ClaimedRecipient, raw: string): OutgoingEmail {
    const from = createVerpAddress(verpKey, id, returnDomain);
    return { id, projectId: content.projectId, from, to: email, raw, canonical: true };
  }

  function buildHeaders({ id, email }: ClaimedRecipient) {
    return { from, to: { email }, replyTo, messageId: createMessageId(id, domain), date: new Date() };
  }

  return {
    dataKeys,
    costly: compiled === undefined,
    compose(recipient) {
      if (!compiled) throw new Error('costly content is composed in a thread');
      return toOutgoingEmail(
        recipient,
        renderMime(compiled, { ...buildInput(recipient), headers: buildHeaders(recipient) }),
      );
    },
    async composeCostly(recipient) {
      const input = { key, source, input: buildInput(recipient), headers: buildHeaders(recipient) };
      const { raw, subject } = await compute.runInThread(work, 'content.message', input);
      subjects.set(recipient, subject);
      return toOutgoingEmail(recipient, raw);
    },
    buildEventData(recipient) {
      return {
        subject: compiled
          ? renderSubject(compiled, buildInput(recipient))
          : (subjects.get(recipient) ?? content.subject),
        from: content.from,
        fromName: content.fromName,
        messageId: createMessageId(recipient.id, domain),
        emailId: recipient.id,
        templateId: content.templateId,
        campaignId,
        sourceType: 'CAMPAIGN',
      };
    },
  };
}

function pickData({ data, values }: ClaimedRecipient, keys: string[] | 'all'): Record<string, unknown> {
  if (keys === 'all') return data ?? {};
  const selected: Record<string, unknown> = {};
  for (let n = 0; n < keys.length; n++) if (values[n] !== undefined) selected[keys[n] ?? ''] = values[n];
  return selected;
}
