import { emailDomain } from '../domain/email-address.ts';
import type { EmailEventData } from '../domain/email-event.ts';
import { messageId } from '../domain/link-tokens.ts';
import { renderTemplate } from '../domain/liquid.ts';
import { TemplateError } from '../domain/template-error.ts';
import { buildVariables } from '../domain/variables.ts';
import type { Email } from './emails.ts';

/** What a mail of the history is rendered with: the contact as it is now, and the mail's own variables. */
export function variablesOf(email: Pick<Email, 'contactId' | 'contactEmail' | 'to' | 'contactData' | 'variables'>) {
  const contact = { id: email.contactId ?? '', email: email.contactEmail ?? email.to ?? '', data: email.contactData };
  return buildVariables({ contact, data: email.variables });
}

/** Names among them that the public key wrote: never a link target or a header (decisions §2). */
export function untrustedOf(email: Pick<Email, 'untrustedKeys' | 'options'>): ReadonlySet<string> {
  return new Set([...(email.untrustedKeys ?? []), ...(email.options?.untrustedKeys ?? [])]);
}

/** The subject as its recipient read it. */
export function subjectAsRead(email: Email): string {
  if (email.sourceType === 'INBOUND' || !/\{[{%]/.test(email.subject)) return email.subject;
  try {
    return renderTemplate(email.subject, 'plain', variablesOf(email));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return email.subject;
  }
}

/** What every event of a mail says of it, for events that come long after it was sent (spec "Event payloads"). */
export function eventDataOf(email: Email): EmailEventData {
  return {
    subject: subjectAsRead(email),
    from: email.from,
    fromName: email.fromName,
    messageId: email.providerMessageId ?? messageId(email.id, emailDomain(email.from)),
    emailId: email.id,
    templateId: email.templateId,
    campaignId: email.campaignId,
    sourceType: email.sourceType,
  };
}
