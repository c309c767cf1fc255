import { Resolver } from 'node:dns/promises';
import { authenticate } from 'mailauth';

/** A message with its envelope, as a receiving server gets it. */
export interface ArrivedMessage {
  /** The envelope sender. */
  from: string;
  raw: string;
  /** IP address of the SMTP client that delivered the message. */
  ip: string;
  helo: string;
}

/** The results that a receiving server computes. `aligned` has the domains that satisfy DMARC, if any. */
export interface MessageVerdict {
  spf: { result: string; domain: string };
  /** One result for each DKIM signature. */
  dkim: { result: string; domain: string }[];
  dmarc: { result: string; policy: string; aligned: { spf: string | undefined; dkim: string | undefined } };
}

/**
 * Checks SPF, DKIM and DMARC of a message with mailauth, which uses only the DNS server at `dns` (`127.0.0.1:5353`).
 */
export async function checkAuthentication(dns: string, email: ArrivedMessage): Promise<MessageVerdict> {
  const servers = new Resolver({ timeout: 2_000, tries: 2 });
  servers.setServers([dns]);
  const { spf, dkim, dmarc } = await authenticate(Buffer.from(email.raw, 'latin1'), {
    sender: email.from,
    ip: email.ip,
    helo: email.helo,
    mta: 'mx.receiver.test',
    disableArc: true,
    disableBimi: true,
    resolver: (name: string, type: string) => servers.resolve(name, type) as Promise<string[]>,
  });
  if (!spf || !dkim || !dmarc) throw new Error('the message has no sender that could be checked');
  return {
    spf: { result: spf.status.result, domain: spf.domain },
    dkim: dkim.results.map(({ status, signingDomain }) => ({ result: status.result, domain: signingDomain ?? '' })),
    dmarc: {
      result: dmarc.status.result,
      policy: dmarc.policy ?? '',
      aligned: {
        spf: dmarc.alignment?.spf.result || undefined,
        dkim: dmarc.alignment?.dkim.result || undefined,
      },
    },
  };
}
