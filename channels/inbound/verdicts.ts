import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { authenticate } from 'mailauth';
import type { InboundMessage } from './listener.ts';

/** The words of SES: GRAY is no policy or no signature, DISABLED is not checked here. */
export type Verdict = 'PASS' | 'FAIL' | 'GRAY' | 'PROCESSING_FAILED' | 'DISABLED';

export interface Verdicts {
  spf: Verdict;
  dkim: Verdict;
  dmarc: Verdict;
}

/** All look-ups of a message together; then its verdicts are PROCESSING_FAILED, and it is taken all the same. */
const CHECK_MS = 10_000;
const QUERY_MS = 3_000;
const UNCHECKED: Verdicts = { spf: 'PROCESSING_FAILED', dkim: 'PROCESSING_FAILED', dmarc: 'PROCESSING_FAILED' };

const WORDS: Record<string, Verdict> = {
  pass: 'PASS',
  fail: 'FAIL',
  softfail: 'FAIL',
  policy: 'FAIL',
  neutral: 'GRAY',
  none: 'GRAY',
  temperror: 'PROCESSING_FAILED',
  permerror: 'PROCESSING_FAILED',
};

/** Checks SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489) of messages; never rejects. `servers` empty is the system's. */
export function createVerdicts(p: { servers: readonly string[]; host: string }) {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (p.servers.length > 0) resolver.setServers(p.servers);
  const resolve = (name: string, type: string) => resolver.resolve(name, type) as Promise<string[]>;

  return async (message: InboundMessage): Promise<Verdicts> => {
    const { raw, from, ip, helo } = message;
    const checks = { sender: from, ip, helo, mta: p.host, disableArc: true, disableBimi: true, resolver: resolve };
    const late = new AbortController();
    const timeout = sleep(CHECK_MS, UNCHECKED, { signal: late.signal, ref: false }).catch(() => UNCHECKED);
    const checked = authenticate(raw, checks).then(verdictsOf, () => UNCHECKED);
    return Promise.race([checked, timeout]).finally(() => late.abort());
  };
}

function verdictsOf({ spf, dkim, dmarc }: Awaited<ReturnType<typeof authenticate>>): Verdicts {
  const signatures = dkim?.results?.map(({ status }) => verdictOf(status?.result)) ?? [];
  return {
    spf: verdictOf(spf ? spf.status?.result : 'none'),
    dkim: signatures.includes('PASS') ? 'PASS' : (signatures.find((verdict) => verdict !== 'GRAY') ?? 'GRAY'),
    dmarc: verdictOf(dmarc ? dmarc.status?.result : 'none'),
  };
}

function verdictOf(result: string | undefined): Verdict {
  return WORDS[result ?? 'none'] ?? 'GRAY';
}
