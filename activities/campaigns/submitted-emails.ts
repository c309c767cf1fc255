import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';

/** The emails of a turn that are with the provider and have no reply yet, each with a function that takes it back. */
export class SubmittedEmails {
  private readonly provider: EmailProvider;
  private readonly takeBacks = new Map<string, () => boolean>();

  constructor(provider: EmailProvider) {
    this.provider = provider;
  }

  submit(message: OutgoingEmail, onResult: (result: ProviderResult) => void): void {
    this.takeBacks.set(message.id, this.provider.submit(message, onResult));
  }

  forget(id: string): void {
    this.takeBacks.delete(id);
  }

  /**
   * Takes back the emails that are not on the wire yet, one after the other, and yields the id of each. A slow or
   * unreachable provider must not delay a turn that has to stop.
   */
  *takeBack(): Generator<string> {
    for (const [id, takeBack] of this.takeBacks) {
      if (!takeBack()) continue;
      this.takeBacks.delete(id);
      yield id;
    }
  }
}
