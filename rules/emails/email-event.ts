/** Data of every email event (contract §8.2 Events of the service). */
export interface EmailEventData {
  /** As rendered for this email. */
  subject: string;
  from: string;
  fromName: string | null;
  /** The provider's id of the message. Our Message-ID if the provider has no id. */
  messageId: string;
  emailId: string;
  templateId: string | null;
  campaignId: string | null;
  sourceType: string;
}
