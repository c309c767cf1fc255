import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { authenticate } from 'mailauth';
import type { InboundMessage } from './listener.ts';

/**
 * A verdict, with the names that SES uses. GRAY means that the domain has no policy, that its policy is neutral, or
 * that the message has no signature. DISABLED means that this service does not make this check.
 */
export type AuthVerdict = 'PASS' | 'FAIL' | 'GRAY' | 'PROCESSING_FAILED' | 'DISABLED';

export interface Verdicts {
  spf: AuthVerdict;
  dkim: AuthVerdict;
  dmarc: AuthVerdict;
}

/**
 * The time limit for all checks of a message together. When it passes, the verdicts are PROCESSING_FAILED, and the
 * message is still accepted.
 */
const CHECK_MS = 10_000;
const QUERY_MS = 3_000;
/**
 * Messages that exceed these limits are not checked. Checking millions of blank lines or thousands of signatures would
 * block the process for seconds.
 */
const BLANK_LINES_MAX = 20_000;
const SIGNATURES_MAX = 20;
/** Signatures are counted only in this many bytes at the start of a message. */
const HEADERS_MAX_BYTES = 256 * 1024;
const [LF, CR, SPACE, TAB] = [10, 13, 32, 9];
const UNCHECKED: Verdicts = { spf: 'PROCESSING_FAILED', dkim: 'PROCESSING_FAILED', dmarc: 'PROCESSING_FAILED' };

/** For each result of the library `mailauth`, the verdict. */
const VERDICTS: Record<string, AuthVerdict> = {
  pass: 'PASS',
  fail: 'FAIL',
  softfail: 'FAIL',
  policy: 'FAIL',
  neutral: 'GRAY',
  none: 'GRAY',
  temperror: 'PROCESSING_FAILED',
  permerror: 'PROCESSING_FAILED',
};

/** Looks up a name in DNS. @throws with a `code`, like Node's resolver */
export type Resolve = (name: string, type: string) => Promise<string[]>;

/** Creates a resolver for `createAuthCheck` that queries `servers`, or the system's servers if the list is empty. */
export function createResolver(servers: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return (name, type) => resolver.resolve(name, type) as Promise<string[]>;
}

/**
 * Creates a function that checks SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489) of a message and never rejects.
 */
export function createAuthCheck({ resolve, host }: { resolve: Resolve; host: string }) {
  return async (message: Pick<InboundMessage, 'raw' | 'from' | 'ip' | 'helo'>): Promise<Verdicts> => {
    const { raw, from, ip, helo } = message;
    if (isTooCostly(raw)) return UNCHECKED;
    const checks = { sender: from, ip, helo, mta: host, disableArc: true, disableBimi: true, resolver: resolve };
    const timer = new AbortController();
    const timeout = sleep(CHECK_MS, UNCHECKED, { signal: timer.signal, ref: false }).catch(() => UNCHECKED);
    const checked = authenticate(raw, checks).then(toVerdicts, () => UNCHECKED);
    return Promise.race([checked, timeout]).finally(() => timer.abort());
  };
}

function toVerdicts({ spf, dkim, dmarc }: Awaited<ReturnType<typeof authenticate>>): Verdicts {
  const signatures = dkim?.results?.map(({ status }) => toVerdict(status?.result)) ?? [];
  return {
    spf: toVerdict(spf ? spf.status?.result : 'none'),
    dkim: signatures.includes('PASS') ? 'PASS' : (signatures.find((verdict) => verdict !== 'GRAY') ?? 'GRAY'),
    dmarc: toVerdict(dmarc ? dmarc.status?.result : 'none'),
  };
}

function isTooCostly(raw: Buffer): boolean {
  let blankLines = 0;
  let isBlank = true;
  for (let at = 0; at < raw.length; at++) {
    const byte = raw[at];
    if (byte === LF) {
      if (isBlank) blankLines += 1;
      isBlank = true;
    } else if (byte !== CR && byte !== SPACE && byte !== TAB) isBlank = false;
  }
  const signatures =
    raw
      .subarray(0, HEADERS_MAX_BYTES)
      .toString('latin1')
      .match(/^dkim-signature:/gim)?.length ?? 0;
  return blankLines > BLANK_LINES_MAX || signatures > SIGNATURES_MAX;
}

function toVerdict(result: string | undefined): AuthVerdict {
  return VERDICTS[result ?? 'none'] ?? 'GRAY';
}
