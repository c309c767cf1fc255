import type { Logger } from 'pino';
import type { EmailProvider, ProviderResult } from '../channels/email/provider.ts';
import { isSessionStage } from '../rules/emails/refusal.ts';
import { describeResult } from './emails/decision.ts';

/** At most one line is logged in this time, because thousands of emails may fail while the provider is down. */
const QUIET_MS = 60_000;

export interface ProviderWatchDeps {
  log: Pick<Logger, 'warn'>;
  /** The provider's address, see `getProviderAddress`. */
  address: string;
  /** Milliseconds since any fixed moment. */
  now?: () => number;
}

/**
 * Warns the operator when emails are not sent for a reason that has nothing to do with the emails: the provider refuses
 * the login, is down, or does not respond. Logs at most one line a minute for all watched providers together, with the
 * number of emails that failed since the last line. Each email is retried, and its column `error` has the provider's
 * whole reply. When the provider works again, nothing is logged. Notices of the provider's client are logged at once.
 */
export function createProviderWatch({ log, address, now = Date.now }: ProviderWatchDeps) {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let emailCount = 0;

  function countAndLog(provider: EmailProvider, result: ProviderResult): void {
    const problem = findProblem(result);
    if (!problem) return;
    emailCount += 1;
    if (now() < quietUntil) return;
    const { text, reason } = problem;
    log.warn({ provider: provider.kind, address, reason, emails: emailCount }, text);
    quietUntil = now() + QUIET_MS;
    emailCount = 0;
  }

  /**
   * Wraps a provider and checks its results. An email that is not sent because this process stops does not count as a
   * failure of the provider.
   */
  return function watchProvider(provider: EmailProvider): EmailProvider {
    let closing = false;
    provider.onNotice?.((notice) => log.warn({ provider: provider.kind, address }, notice));
    return {
      kind: provider.kind,
      async send(message, signal) {
        const result = await provider.send(message, signal);
        if (!closing && !signal?.aborted) countAndLog(provider, result);
        return result;
      },
      submit: (message, onResult) =>
        provider.submit(message, (result, about) => {
          if (!closing) countAndLog(provider, result);
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

/**
 * Describes the problem with the provider. Undefined if the result shows no problem, or if the refusal is about the
 * message only.
 */
function findProblem(result: ProviderResult): { text: string; reason: string } | undefined {
  switch (result.outcome) {
    case 'accepted':
      return undefined;
    case 'refused': {
      if (!isSessionStage(result.stage)) return undefined;
      const text =
        result.stage === 'auth'
          ? 'the email provider refuses our login or account; emails are deferred'
          : 'the email provider accepts no email for now; emails are deferred';
      return { text, reason: describeResult(result) };
    }
    case 'unsent':
      return { text: 'the email provider cannot be reached; emails are deferred', reason: describeResult(result) };
    case 'in_doubt':
      return { text: 'the email provider did not respond; emails are retried', reason: describeResult(result) };
  }
}
