/**
 * What a mail server's refusal means: the one table. Known words beat the enhanced status code (RFC 3463), that beats
 * the bare code, because large receivers put unknown users under 5.5.0, 5.7.1 or 554. Source: contract §9.7.
 */

/**
 * Where in an SMTP session a refusal came; from `connect` to `auth` it is about the session, later about the message.
 */
export type SessionStage = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message';

/** `dsn` is a delivery status notification: another server has given up for us. */
export type BounceStage = SessionStage | 'dsn';

/**
 * `dead_mailbox`: nobody reads there. `mailbox_for_now`: full, greylisted, busy. `policy`: the sender is not wanted.
 * `message`: too large or malformed. `routing`: no way to the host. `session`: the server would not talk at all; says
 * nothing about the message.
 */
export type BounceClass = 'dead_mailbox' | 'mailbox_for_now' | 'policy' | 'message' | 'routing' | 'session' | 'unknown';

export interface BounceReply {
  /** Null where only a status is known, as in many notifications. */
  code: number | null;
  enhanced: string | null;
  /** The server's words, with or without the codes before them. */
  text: string;
  stage: BounceStage;
}

export interface BounceVerdict {
  class: BounceClass;
  bounceType: 'Permanent' | 'Transient';
  /** What the email becomes when it is not retried. */
  status: 'BOUNCED' | 'FAILED';
  retry: boolean;
  /** Put the address on the suppression list as `hard_bounce`. */
  suppress: boolean;
  unsubscribe: boolean;
  /** This email ends here. */
  final: boolean;
  /** The same again on another day means a dead mailbox, see `judgeAgain`. */
  deadIfAgain: boolean;
}

const FINAL = {
  status: 'BOUNCED',
  retry: false,
  suppress: false,
  unsubscribe: false,
  final: true,
  deadIfAgain: false,
} as const;
const FOR_NOW = { ...FINAL, bounceType: 'Transient', retry: true, final: false } as const;

const VERDICTS: Record<BounceClass, BounceVerdict> = {
  dead_mailbox: { ...FINAL, class: 'dead_mailbox', bounceType: 'Permanent', suppress: true, unsubscribe: true },
  policy: { ...FINAL, class: 'policy', bounceType: 'Permanent' },
  message: { ...FINAL, class: 'message', bounceType: 'Permanent', status: 'FAILED' },
  routing: { ...FINAL, class: 'routing', bounceType: 'Transient', deadIfAgain: true },
  unknown: { ...FINAL, class: 'unknown', bounceType: 'Transient', deadIfAgain: true },
  mailbox_for_now: { ...FOR_NOW, class: 'mailbox_for_now' },
  session: { ...FOR_NOW, class: 'session' },
};

const WHO = '(?:user|recipient|mail ?box|account|address|addressee|alias|e-?mail)';
const GONE =
  '(?:disabled|inactive|deactivated|suspended|discontinued|closed|deleted|expired|terminated|no longer|locked|been moved|has moved|abandoned)';

/** Words that say "policy" of anything that is not wanted: a status that names the message's content knows better. */
const GENERIC_POLICY: readonly RegExp[] = [
  /\b(spam|unsolicited|ube|uce|junk|phish|bulk mail)|blocked|banned|abuse|complaint/,
  /proofpoint|cloudmark|mimecast/,
  /polic(y|ies)|prohibit|suspicious|authori[sz]ed|authenticat|\br?dns (record|lookup)/,
  /relay(ing)?\b.{0,30}\b(denied|not permitted|not allowed|access)/,
  /(unable|not allowed|not permitted|refus\w*|not) to relay/,
  /content (rejected|filter)|rejected (due to|because of|by) .{0,20}(content|filter|administr)/,
  /(daily|hourly) (sending )?(limit|quota)/,
];
/** RFC 3463 §3.7: the content or its form. */
const ABOUT_CONTENT = /^5\.6\./;

/** Words that are known, lower case; the first match wins. Each group names what the groups after it would misread. */
const WORDS: readonly (readonly [BounceClass, readonly RegExp[]])[] = [
  [
    'policy', // A sender that was looked up: "Sender verify failed: no such user" is not about the recipient.
    [
      /\bsender (verify|verification|callout|address|domain|rejected|denied|not )/,
      /\b(domain|host) of sender|\b(invalid|unverified|unknown) sender/,
      /return.?path.*(invalid|unresolv)|from address.*(not verified|rejected)/,
      /not allowed to send|send ?as ?denied/,
    ],
  ],
  [
    'policy', // Our address, or lists of such: "the IP address is not registered" is no mailbox.
    [
      /\b(ip|client|sending|connecting|source|your) (ip )?(address|host)\b|\bip=/,
      /reverse (dns|host)|\bptr\b|\bhelo\b|\behlo\b/,
      /spamhaus|spamcop|barracuda|sorbs|senderscore|abuseix|uceprotect|invaluement|surbl|\b(dns|r)bls?\b|\(bl\)/,
      /(black|block|deny) ?list|reputation|\b(spf|dkim|dmarc)\b/,
    ],
  ],
  [
    'message', // Before "full": some servers say that a message exceeds a quota.
    [
      /message (size |length |body |file )?(is )?(too (big|large|long)|exceed|larger than)/,
      /(?<!box )size (limit )?exceed|exceed\S* .{0,30}(message|mail|fixed) ?(size|limit)|maximum message size/,
      /\bvirus\b|malware|infected|potential security issue/,
      /(attachment|file ?type).*(not allowed|blocked|rejected|prohibited)/,
      /\brfc ?-?\d*822\b|rfc ?5322|rfc ?2047|missing a valid/,
      /(missing|invalid|multiple|duplicate) .{0,20}header|headers? .*(malformed|missing|invalid)/,
      /bare (lf|cr|newline)|(mime|content).*(malformed|conversion required)|line too long|too many hops/,
    ],
  ],
  [
    'mailbox_for_now',
    [
      /(mail ?box|account|inbox|user|recipient|quota|storage|disk)\b.{0,60}\b(full|over ?quota|exceeded|over its)/,
      /over ?quota|quota exceeded|exceed\S* .{0,30}(quota|storage)/,
      /out of (storage|disk|space)|insufficient (system )?storage|not enough (disk )?space|no space left/,
      /gr[ea]y ?list/,
    ],
  ],
  [
    'dead_mailbox',
    [
      new RegExp(`(no such|unknown|invalid|non-?exist[ea]nt|bad) (local )?(${WHO}|person|destination)`),
      new RegExp(`${WHO}\\b[^.;]{0,80}\\b(unknown|invalid|not (be )?found|does(n'?t| not) exist)`),
      new RegExp(
        `${WHO}\\b[^.;]{0,80}\\b(isn'?t|not) (a )?(known|valid|exist|registered|listed|here|on this|in (our|my))`,
      ),
      new RegExp(`${WHO}\\b[^.;]{0,80}\\b${GONE}|${GONE} ${WHO}`),
      new RegExp(`not a (known|valid|local) ${WHO}|not our (customer|user)|unroute?able`),
      /does(n'?t| not) have an? .{0,40}account|no (mail ?box|account|user|recipient|one)\b.{0,30}\b(here|by that|named)/,
      /use?r[ _]unknown|nosuchuser|recip(ient)?notfound/,
      /no longer (available|active|in use|valid|accept|with us|works?|employed)/,
      /does not accept mail|null ?mx|undeliverable address|domain .{0,40}does(n'?t| not) exist/,
      /recipient address rejected: (access denied|undeliverable|invalid|unverified)/,
    ],
  ],
  ['policy', GENERIC_POLICY],
  [
    'dead_mailbox', // Generic words, which receivers also put before a policy.
    [
      /mail ?box (is )?(un|not )(available|reachable)|mail ?box .{0,80}unavailable/,
      /(recipient|user) (is )?(unavailable|rejected|refused)|recipient address rejected|address rejected/,
      /(unable|not able) to (deliver|find) .{0,20}(user|recipient|mailbox)|cannot find (your )?recipient|undeliverable/,
    ],
  ],
];

/** Enhanced codes of permanent refusals, first match wins. What is not here is `unknown`. */
const CODES: readonly (readonly [BounceClass, RegExp])[] = [
  ['dead_mailbox', /^5\.(1\.(1|2|3|6|10)|2\.1)$/],
  ['mailbox_for_now', /^5\.2\.2$/],
  ['message', /^5\.(3\.4|2\.3|6\.\d+)$/],
  ['policy', /^5\.1\.[789]$/], // The sender's own address or domain.
  ['policy', /^5\.[57]\.\d+$/],
  ['routing', /^5\.(1\.4|2\.4|3\.\d+|4\.\d+)$/],
];

/** The first words decide; whoever writes a notification must not make the patterns run for minutes. */
const MAX_TEXT = 2000;
const HAS_CODES = /^\s*(?:smtp;\s*)?(?:([245]\d\d)(?:[\s-]+|$))?(?:#?([245]\.\d{1,3}\.\d{1,3})(?:[\s:-]+|$))?/i;
const QUOTES_REPLY = /^.*?(?:^|: )[245]\d\d(?:[ -]#?[245]\.\d{1,3}\.\d{1,3})?(?=\s|$)/s;
const ADDRESS_OR_LINK = /<?[^\s<>]+@[^\s<>]+>?|https?:\S+/g;

/** Whether a refusal there is about the session, and nothing is said about the message. */
export function isSessionStage(stage: BounceStage): boolean {
  return stage === 'connect' || stage === 'ehlo' || stage === 'starttls' || stage === 'auth';
}

/** Judges one refusal. Pure: what happened to the address before is for `judgeAgain`. */
export function classifyReply(reply: BounceReply): BounceVerdict {
  const verdict = VERDICTS[classOf(reply)];
  return reply.stage === 'dsn' && verdict.retry ? givenUp(reply, verdict) : verdict;
}

/**
 * Judges a verdict in the light of the last one that said `deadIfAgain` about this address: on another day (UTC) it
 * means that the mailbox is dead.
 */
export function judgeAgain(verdict: BounceVerdict, lastAt: Date | null, now: Date): BounceVerdict {
  const again = verdict.deadIfAgain && lastAt !== null && day(lastAt) !== day(now);
  return again ? VERDICTS.dead_mailbox : verdict;
}

/** Takes `550 5.1.1 words`, or a Diagnostic-Code (`smtp; 550-5.1.1 words`, RFC 3464 §2.3.6), apart. */
export function parseDiagnostic(text: string): { code: number | null; enhanced: string | null; text: string } {
  const match = HAS_CODES.exec(text);
  const code = match?.[1] ? Number(match[1]) : null;
  return { code, enhanced: match?.[2] ?? null, text: text.slice(match?.[0].length ?? 0).trim() };
}

/** Cuts a text off behind the codes of the reply that it quotes: `left us: 421 4.3.2 words` ends at `4.3.2`. */
export function withoutReply(text: string): string {
  return QUOTES_REPLY.exec(text)?.[0] ?? text;
}

function classOf({ code, enhanced, text, stage }: BounceReply): BounceClass {
  if (isSessionStage(stage)) return 'session';
  if (isForNow(code, enhanced)) return 'mailbox_for_now';
  const words = wordsOf(text);
  const [wordClass, patterns] = WORDS.find(([, group]) => group.some((pattern) => pattern.test(words))) ?? [];
  const byWords = patterns === GENERIC_POLICY && ABOUT_CONTENT.test(enhanced ?? '') ? undefined : wordClass;
  const byCode = CODES.find(([, pattern]) => pattern.test(enhanced ?? ''))?.[0];
  const found = byWords ?? byCode;
  if (stage === 'mail') return found === 'message' || found === 'mailbox_for_now' ? found : 'policy'; // No recipient was named yet.
  if (found) return found;
  return stage === 'rcpt' && enhanced === null && !/\p{L}/u.test(words) ? 'dead_mailbox' : 'unknown';
}

/** A 4xx is never for good, whatever its words: `450 4.1.1 user unknown` is a server whose directory is down. */
function isForNow(code: number | null, enhanced: string | null): boolean {
  if (code !== null && code < 500) return true;
  return enhanced?.startsWith('4.') ?? false;
}

/** Another server has tried for days: nothing is left to retry. What it could not reach (4.4.x) is routing. */
function givenUp({ enhanced }: BounceReply, verdict: BounceVerdict): BounceVerdict {
  if (enhanced?.startsWith('4.4.')) return VERDICTS.routing;
  return { ...verdict, retry: false, final: true };
}

/** Lower case, without addresses (a mailbox may be called spam@), links and codes. */
function wordsOf(text: string): string {
  const lower = text.slice(0, MAX_TEXT).toLowerCase().replace(/\s+/g, ' ');
  return lower
    .replace(ADDRESS_OR_LINK, ' ')
    .replace(/[245]\d\d[ -](?=[245]\.\d)|\b[245]\.\d{1,3}\.\d{1,3}\b/g, ' ')
    .trim();
}

function day(at: Date): string {
  return at.toISOString().slice(0, 10);
}
