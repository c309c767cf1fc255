import type { OutgoingEmail } from '../channels/email/provider.ts';
import type { ClaimedRecipient } from '../db/campaign-ledger.ts';
import type { ReadyContent } from '../db/content-cache.ts';
import type { Config } from '../domain/config.ts';
import { renderMime, renderSubject } from '../domain/content.ts';
import { emailDomain } from '../domain/email-address.ts';
import type { EmailEventData } from '../domain/email-event.ts';
import { linkToken, messageId } from '../domain/link-tokens.ts';
import { deriveKey } from '../domain/secrets.ts';
import { buildVariables } from '../domain/variables.ts';
import { verpAddress } from '../domain/verp.ts';

/** Makes the messages of one content; nothing in it waits. */
export interface CampaignComposer {
  /** Keys of contact data that the content reads; what a claim has to bring. */
  dataKeys: string[] | 'all';
  /** The same recipient gives the same message but for its Date. @throws TemplateError */
  compose(recipient: ClaimedRecipient): OutgoingEmail;
  /** What the events of a recipient's mail say. @throws TemplateError */
  eventOf(recipient: ClaimedRecipient): EmailEventData;
}

export function createCampaignComposer(p: {
  config: Config;
  campaignId: string;
  ready: ReadyContent;
}): CampaignComposer {
  const { config, campaignId, ready } = p;
  const { content, compiled } = ready;
  const domain = emailDomain(content.fromEmail);
  const returnDomain = config.email.returnPathDomain ?? domain;
  const verpKey = deriveKey(config.secretKey, 'verp');
  const from = { name: content.fromName, email: content.fromEmail };
  const replyTo = content.replyTo ? { email: content.replyTo } : null;
  const dataKeys = compiled.variables === '*' ? ('all' as const) : compiled.variables;

  function inputOf(recipient: ClaimedRecipient) {
    const { id, contactId, email, untrustedKeys } = recipient;
    return {
      vars: buildVariables({ contact: { id: contactId, email, data: dataOf(recipient, dataKeys) } }),
      urls: { baseUrl: config.publicUrl, ...linkToken(config.secretKey, id) },
      untrusted: untrustedKeys.length > 0 ? new Set(untrustedKeys) : undefined,
    };
  }

  return {
    dataKeys,
    compose(recipient) {
      const { id, email } = recipient;
      const headers = { from, to: { email }, replyTo, messageId: messageId(id, domain), date: new Date() };
      return {
        id,
        projectId: content.projectId,
        from: verpAddress(verpKey, id, returnDomain),
        to: email,
        raw: renderMime(compiled, { ...inputOf(recipient), headers }),
        canonical: true,
      };
    },
    eventOf(recipient) {
      return {
        subject: renderSubject(compiled, inputOf(recipient)),
        from: content.fromEmail,
        fromName: content.fromName,
        messageId: messageId(recipient.id, domain),
        emailId: recipient.id,
        templateId: content.templateId,
        campaignId,
        sourceType: 'CAMPAIGN',
      };
    },
  };
}

function dataOf({ data, values }: ClaimedRecipient, keys: string[] | 'all'): Record<string, unknown> {
  if (keys === 'all') return data ?? {};
  const named: Record<string, unknown> = {};
  for (let n = 0; n < keys.length; n++) if (values[n] !== undefined) named[keys[n] ?? ''] = values[n];
  return named;
}
