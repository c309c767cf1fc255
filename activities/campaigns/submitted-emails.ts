import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';

/**
 * The emails of a turn that were submitted to the provider and have no result yet, each with the function that
 * withdraws the email.
 */
export class SubmittedEmails {
  private readonly provider: EmailProvider;
  private readonly withdrawals = new Map<string, () => boolean>();

  constructor(provider: EmailProvider) {
    this.provider = provider;
  }

  submit(message: OutgoingEmail, onResult: (result: ProviderResult) => void): void {
    this.withdrawals.set(message.id, this.provider.submit(message, onResult));
  }

  remove(id: string): void {
    this.withdrawals.delete(id);
  }

  /**
   * Withdraws the emails that are not on the wire yet, one after the other, and yields the id of each withdrawn email.
   * Without this, a slow or unreachable provider would delay a turn that has to stop.
   */
  *withdrawUnsent(): Generator<string> {
    for (const [id, withdraw] of this.withdrawals) {
      if (!withdraw()) continue;
      this.withdrawals.delete(id);
      yield id;
    }
  }
}
