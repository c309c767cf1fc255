/** The data of every event about an email (contract §8.2 Events of the service). */
export interface EmailEventData {
  /** The subject as rendered for this email. */
  subject: string;
  from: string;
  fromName: string | null;
  /** The provider's id of the message. If the provider has no id, the Message-ID that the service wrote. */
  messageId: string;
  emailId: string;
  templateId: string | null;
  campaignId: string | null;
  sourceType: string;
}
