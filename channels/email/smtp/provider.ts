import type { EmailProvider, OutgoingEmail, ProviderResult } from '../provider.ts';
import { SmtpPool, type SmtpPoolOptions } from './pool.ts';
import type { SmtpMessage, SmtpResult } from './types.ts';

/**
 * Finds the id that a relay assigned to the message. Postfix, Exim and SES write the id in their last reply. SES writes
 * `Ok <id>`.
 */
const QUEUE_ID = /queued as <?([^\s<>]+)|\bid=(\S+)|^Ok ([\w-]{20,})$/i;

/**
 * Creates a provider that sends through a mail server with the pipelining client.
 * @throws Error for a URL that cannot be used
 */
export function createSmtpProvider(options: SmtpPoolOptions): EmailProvider & { readonly pool: SmtpPool } {
  let notify: (notice: string) => void = () => {};
  const pool = new SmtpPool({ ...options, onNotice: (notice) => notify(notice) });
  return {
    kind: 'smtp',
    pool,
    send: async (message, signal) => toProviderResult(await pool.send(toSmtpMessage(message), signal)),
    submit: (message, onResult) => {
      const job = pool.submit(toSmtpMessage(message), (result) => onResult(toProviderResult(result), message));
      return () => pool.withdraw(job);
    },
    probe: (envelope, signal) => pool.probe(envelope, signal),
    close: () => pool.close(),
    onNotice: (listener) => {
      notify = listener;
    },
  };
}

function toSmtpMessage({ id, from, to, raw, canonical, payload }: OutgoingEmail): SmtpMessage {
  return { id, from, to, data: raw, canonical: canonical === true, payload };
}

function toProviderResult(result: SmtpResult): ProviderResult {
  if (result.outcome !== 'accepted') return result;
  const match = QUEUE_ID.exec(result.reply);
  return {
    outcome: 'accepted',
    providerMessageId: match?.[1] ?? match?.[2] ?? match?.[3] ?? null,
    reply: result.reply,
  };
}
