import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';

/** The emails of a turn that the provider has and has not replied to, each with a function to take it back. */
export class HandedOverEmails {
  private readonly provider: EmailProvider;
  private readonly takeBacks = new Map<string, () => boolean>();

  constructor(provider: EmailProvider) {
    this.provider = provider;
  }

  submit(message: OutgoingEmail, onResult: (result: ProviderResult) => void): void {
    this.takeBacks.set(message.id, this.provider.submit(message, onResult));
  }

  answered(id: string): void {
    this.takeBacks.delete(id);
  }

  /**
   * Takes back what is not on its way yet, one after the other, and gives the id of each: a slow or absent provider
   * must not keep a turn that has to stop.
   */
  *takeBack(): Generator<string> {
    for (const [id, takeBack] of this.takeBacks) {
      if (!takeBack()) continue;
      this.takeBacks.delete(id);
      yield id;
    }
  }
}
