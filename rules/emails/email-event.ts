/** What every email event says of its mail (contract §8.2). */
export interface EmailEventData {
  /** As rendered for this mail. */
  subject: string;
  from: string;
  fromName: string | null;
  /** The provider's id of the message; our Message-ID where it has none. */
  messageId: string;
  emailId: string;
  templateId: string | null;
  campaignId: string | null;
  sourceType: string;
}
