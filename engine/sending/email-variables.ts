import type { Email } from '../../db/emails/emails.ts';
import { renderSubjectOf } from '../../rules/content/content.ts';
import { createMessageId } from '../../rules/content/link-tokens.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import { buildVariables } from '../../rules/content/variables.ts';
import { emailDomain } from '../../rules/emails/email-address.ts';
import type { EmailEventData } from '../../rules/emails/email-event.ts';
import { readDataInRun } from '../../rules/executions/run.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { Lru } from '../../rules/lru.ts';
import { markUntrusted, type Sourced, type SourcedValue } from '../../rules/provenance/provenance.ts';
import { isLimitError, runWithTimeLimit, wasStarved } from '../../rules/time-limit.ts';
import type { NewEvent } from '../events/record-events.ts';

/**
 * Returns the variables for showing an earlier email: the contact's current data, and the variables stored with the
 * email.
 */
export function buildStoredVariables(
  email: Pick<Email, 'contactId' | 'contactEmail' | 'to' | 'contactData' | 'variables' | 'options' | 'projectZone'>,
): Sourced<Data> {
  const run = email.options?.sandbox?.contact;
  const data = readDataInRun(run, email.contactData);
  const contact = { id: email.contactId ?? '', email: email.contactEmail ?? email.to ?? '', data };
  return buildVariables({ contact, data: email.variables, zone: email.projectZone });
}

/**
 * The time limit for rendering one subject, in milliseconds. The limit is a thousand times the usual time. A list in
 * the dashboard shows a hundred subjects, so a subject that once exceeded the limit is not rendered again
 * (`slowSubjects`).
 */
const SUBJECT_MS = 40;
const slowSubjects = new Lru<string, true>(1_000);

/**
 * Returns the subject with its variables filled in, as the recipient saw it. If the email was received, or if rendering
 * fails or exceeds the time limit, the function returns the stored subject.
 */
export function renderSubjectForRecipient(email: Email): string {
  return renderStoredSubject(email).value;
}

function renderStoredSubject(email: Email): SourcedValue<string> {
  if (email.sourceType === 'INBOUND') return { value: email.subject, untrusted: true };
  const written = { value: email.subject, untrusted: false };
  if (!/\{[{%]/.test(email.subject) || slowSubjects.has(email.subject)) return written;
  try {
    return runWithTimeLimit(() => renderSubjectOf(email.subject, buildStoredVariables(email)), SUBJECT_MS);
  } catch (error) {
    if (!isLimitError(error) && !(error instanceof TemplateError)) throw error;
    if (isLimitError(error) && !wasStarved(error)) slowSubjects.set(email.subject, true);
    return written;
  }
}

/**
 * Returns the data that every event about an email has. Used for events that happen after the email was sent (contract
 * §8.2 Events of the service).
 */
export function buildEmailEventData(email: Email): Sourced<EmailEventData> {
  const { value: subject, untrusted } = renderStoredSubject(email);
  const data = {
    subject,
    from: email.from,
    fromName: email.fromName,
    messageId:
      email.providerMessageId ??
      email.options?.original?.messageId ??
      createMessageId(email.id, emailDomain(email.from)),
    emailId: email.id,
    templateId: email.templateId,
    campaignId: email.campaignId,
    sourceType: email.sourceType,
  };
  return markUntrusted(data, untrusted ? ['subject'] : []);
}

/**
 * Builds an event about an email, with the email's data and `detail`. If the subject has untrusted values, the event is
 * untrusted.
 */
export function createEmailEvent(email: Email, name: string, detail: Record<string, unknown>): NewEvent {
  const { values, untrusted } = buildEmailEventData(email);
  return {
    contactId: email.contactId,
    emailId: email.id,
    name,
    data: { ...values, ...detail },
    untrusted: untrusted.size > 0,
    untrustedTrigger: email.options?.forStranger === true,
    causeId: null,
  };
}
