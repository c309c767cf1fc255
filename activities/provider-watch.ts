import type { Logger } from 'pino';
import type { EmailProvider, ProviderResult } from '../channels/email/provider.ts';
import { isSessionStage } from '../rules/emails/refusal.ts';
import { statusOf } from './emails/decision.ts';

/** At most one line is logged in this time, because thousands of emails fail while the provider is down. */
const QUIET_MS = 60_000;

export interface ProviderWatchDeps {
  log: Pick<Logger, 'warn'>;
  /** The provider's address, see `providerAddress`. */
  address: string;
  /** Milliseconds since any fixed moment. */
  now?: () => number;
}

/**
 * Warns the operator when email is not sent for a reason outside of the emails: a refused login, or a server that is
 * down or does not respond. Writes one line a minute for all providers that it watches, with the number of emails since
 * the last line. Each email has the provider's whole reply as its `error` and is retried. Nothing is logged when it
 * works again.
 */
export function createProviderWatch({ log, address, now = Date.now }: ProviderWatchDeps) {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let emailCount = 0;

  function note(provider: EmailProvider, result: ProviderResult): void {
    const trouble = troubleOf(result);
    if (!trouble) return;
    emailCount += 1;
    if (now() < quietUntil) return;
    const { says, reason } = trouble;
    log.warn({ provider: provider.kind, address, reason, emails: emailCount }, says);
    quietUntil = now() + QUIET_MS;
    emailCount = 0;
  }

  /**
   * Wraps a provider and checks its results. Email that is not sent because the process stops does not count as a
   * failure of the provider.
   */
  return function watchProvider(provider: EmailProvider): EmailProvider {
    let closing = false;
    provider.onNotice?.((notice) => log.warn({ provider: provider.kind, address }, notice));
    return {
      kind: provider.kind,
      async send(message, signal) {
        const result = await provider.send(message, signal);
        if (!closing && !signal?.aborted) note(provider, result);
        return result;
      },
      submit: (message, onResult) =>
        provider.submit(message, (result, about) => {
          if (!closing) note(provider, result);
          onResult(result, about);
        }),
      ...(provider.probe && { probe: provider.probe }),
      close() {
        closing = true;
        return provider.close();
      },
    };
  };
}

/** Describes a problem with the provider; undefined for a reply about the message. */
function troubleOf(result: ProviderResult): { says: string; reason: string } | undefined {
  switch (result.outcome) {
    case 'accepted':
      return undefined;
    case 'refused': {
      if (!isSessionStage(result.stage)) return undefined;
      const says =
        result.stage === 'auth'
          ? 'the email provider refuses our login or account; emails are deferred'
          : 'the email provider accepts no email for now; emails are deferred';
      return { says, reason: statusOf(result) };
    }
    case 'unsent':
      return { says: 'the email provider cannot be reached; emails are deferred', reason: statusOf(result) };
    case 'in_doubt':
      return { says: 'the email provider did not respond; emails are retried', reason: statusOf(result) };
  }
}
