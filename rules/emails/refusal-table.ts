/**
 * Maps the replies of mail servers, by their enhanced status code and their text, to the class of a refusal. The class
 * names the person or thing that the server refuses. `refusal-languages.ts` has the words of languages other than
 * English.
 */

import { classifyForeignRefusal, type ForeignClass } from './refusal-languages.ts';

/**
 * The class of a refusal. `account`: the login, the account's quota, relaying, or the sender address. `policy`: the
 * reputation, host or DNS records of the sending service. `message`: the size, form or content of the message.
 * `dead_mailbox`: the recipient's mailbox does not exist. `mailbox_for_now`: the mailbox cannot receive at the moment.
 * `routing`: the recipient's host cannot be reached.
 */
export type RefusalClass = 'account' | 'policy' | 'message' | 'dead_mailbox' | 'mailbox_for_now' | 'routing';

/**
 * The class of a reply's text, and whether the text is about the sender. A text about the sender takes precedence over
 * a code about the recipient.
 */
export interface TextClass {
  class: RefusalClass;
  namesSender: boolean;
}

/**
 * Enhanced status codes without their first digit (RFC 3463, RFC 5248, RFC 7504) that are specific enough to determine
 * the class without the text.
 */
const CODES: readonly (readonly [RefusalClass, RegExp])[] = [
  ['dead_mailbox', /^(1\.(1|2|3|6|10)|2\.1)$/],
  ['mailbox_for_now', /^2\.2$/],
  ['account', /^1\.[78]$/], // The sender's address or domain.
  // Exchange Online uses these codes for a sender or tenant that it has banned.
  ['account', /^7\.(50[1-3]|705|750)$/],
  ['policy', /^(1\.9|7\.\d+)$/],
  ['message', /^(2\.3|3\.4|6\.\d+)$/],
  ['routing', /^(1\.4|2\.4|3\.\d+|4\.\d+)$/],
];
/** Codes whose class is almost certain. The text can only refine the class. */
const POLICY = /^7\.\d+$/;
const RECIPIENT = /^(1\.(1|6|10)|2\.1)$/;
const ROUTING = /^4\.\d+$/;

/**
 * Returns the class of an enhanced status code. `words`, the class of the text, refines the class of a specific code:
 * 5.7.x is never about the recipient, 5.1.1 always is unless the text is about the sender, and 5.4.x is about the route
 * unless the text is about the account. For unspecific codes (5.0.0, 5.1.0, 5.5.0), the class of the text is the
 * result.
 */
export function classifyCode(enhanced: string | null, words: TextClass | undefined): RefusalClass | undefined {
  const detail = enhanced?.slice(2) ?? '';
  const found = CODES.find(([, pattern]) => pattern.test(detail))?.[0];
  if (found === 'account' && POLICY.test(detail)) return found;
  if (POLICY.test(detail)) return words?.class === 'account' || words?.class === 'message' ? words.class : 'policy';
  if (RECIPIENT.test(detail)) {
    if (words?.namesSender) return words.class;
    return words?.class === 'mailbox_for_now' ? words.class : found;
  }
  if (ROUTING.test(detail)) return words?.class === 'account' ? words.class : found;
  if (found === 'message' || found === 'account' || found === 'mailbox_for_now') return found;
  // `5.1.2 Host unknown` means that the domain does not exist, so the address will never work. A missing route may be
  // temporary.
  if (found === 'dead_mailbox' && words?.class === 'routing') return found;
  return words?.class ?? found;
}

const RECIPIENT_WORD = '(?:user|recipient|mail ?box|addressee|alias|inbox)';
/** "account" and "address" may mean the sender's or the recipient's, so these words alone prove less. */
const ANY_WORD = `(?:${RECIPIENT_WORD}|account|address|e-?mail)`;
const GONE =
  '(?:disabled|inactive|deactivated|suspended|discontinued|closed|deleted|expired|terminated|no longer|locked|been moved|has moved|abandoned|(is|was|been) (removed|retired|cancell?ed|withdrawn)|decommissioned|not active)';
/** Matches words that show that an account or address belongs to the recipient. */
const OF_RECIPIENT =
  /\b(user|recipient|mail ?box|you (tried|are trying|were trying|wish|want) to (reach|contact)|message to|student|employee)\b|^ADDRESS|\bADDRESS\b/;

const SENDER_NOUN =
  "(sender'?s?|originator'?s?|envelope from|(mail )?from:? (address|domain|user|mail ?box)|(reverse|return).?path|(bounce|reply) address|sending (user|mail ?box|account|domain))";
/** Words for the state of a refused sender. The same words about a recipient mean a dead or a full mailbox. */
const SENDER_STATE =
  "(unknown|invalid|unavailable|disabled|suspended|inactive|deactivated|closed|deleted|terminated|expired|no longer|unregistered|non-?exist|gone\\b|removed|busy|over ?quota|quota|full\\b|no space|temporarily|reached (its|the)|not (be |a )?(found|verified|known|valid|exist|registered|recogni[sz]ed)|does(n'?t| not) exist)";

const SENDER: readonly RegExp[] = [
  /\bsender (verify|verification|callout|address|domain|rejected|denied|id|not )/,
  new RegExp(`\\b${SENDER_NOUN}\\b[^.,:;]{0,60}\\b${SENDER_STATE}`),
  /(verify|denied|rejected) (the )?(envelope )?sender|envelope sender .{0,40}(denied|badmailfrom)/,
  /\b(domain|host|mail ?box|address) of (the )?(sender|originator)|\b(invalid|unverified|unauthenticated|unauthori[sz]ed) senders?\b|\bunknown sender\b/,
  /return.?path.*(invalid|unresolv|(does(n'?t| not)|cannot) resolve)|(from|sender) (address|header|domain).*(not (verified|match|allowed|own)|does(n'?t| not) match|rejected)/,
  /not (allowed|authori[sz]ed|permitted) to send (as|from|on behalf)|send ?as ?denied|\bnot owned by\b/,
  /(email address|identity|domain) is not verified|failed the check|verified sender/,
  /\b(no such|not an?( valid| known| verified)?) sender\b|\bsender has no\b|\bverification (for|of) (the )?sender\b/,
  /\b(return|originator) address\b|\b(in|invalid|bad) (mail|envelope) from\b/,
  /\bsender'?s? (submission |sending )?(mail ?box|quota)\b.{0,40}\b(full\b|over|exceeded)/,
  /\b(account|address|mail ?box|user)\b.{0,20}\bfor (the )?sender\b/,
  /\bsender signature|\bquota (reached|exceeded) for (the )?sender\b|must match (the |your )?(authenticated|login|smtp)/,
];

/**
 * Match replies about the login of the sending service. Such replies also mention the service's address or host, and
 * would otherwise match the patterns of reputation.
 */
const LOGIN: readonly RegExp[] = [
  /\b(api|smtp|relay) (key|user|account|login)\b[^.;]{0,30}\b(unknown|invalid|not (found|known|valid)|does(n'?t| not) exist|no longer)/,
  /\b(no such|unknown|invalid) ((api|smtp|relay) (key|user|account|login)|user for relay)|\b(user|account):? api ?key\b/,
  /\byou are not an? (valid|known|registered|authori[sz]ed) (user|sender|customer|client)|\b(in|on|of) your (account|plan|project)\b/,
  /\byour (e-?mail |mail )?(address|domain)\b.{0,40}\b(unknown|invalid|(does |was |is )?n(ot|'t) (be )?(exist|found|known|valid|registered|recogni[sz]ed))/,
  /\binvalid (credentials|login)\b|credentials for relay|\ballowed to be relayed\b/,
  /unusual sending activity detected|outbound ?spam|\bwascl\b|refuse ?quota/,
];

const ACCOUNT: readonly RegExp[] = [
  /relay(ing)?\b.{0,40}\b(denied|not permitted|not allowed|access|prohibited|forbidden|blocked)|\bno relay/,
  /(unable|not allowed|not permitted|not authori[sz]ed|refus\w*|not|never|denied) to relay|relay access denied/,
  /allowed rcpt ?hosts|rcpthosts|we do(n'?t| not) relay|not a gateway|open relay|relay from .{0,40} denied/,
  /authenticat(ion|e)\b.{0,40}\b(required|needed|fail|first|invalid|unsuccessful|disabled|credentials)/,
  /(must|need to|please|not) (be )?(log ?(ged)? ?in|authenticate|issue a? ?starttls)|not (yet )?(logged in|authenticated)/,
  /\bsmtp (user|account|login)\b|\buser credentials|unknown user or (bad|wrong) password|not authori[sz]ed to perform/,
  /(login|credentials|password|smtp auth|api key).{0,40}(invalid|incorrect|denied|failed|fail|bad|disabled|expired|required)/,
  /(invalid|incorrect|bad) (login|credentials|username|password|api key)|client was not authenticated/,
  /must issue a? ?starttls|encryption required|tls (is )?required/,
  /(daily|hourly|monthly|sending|send|message|relay|smtp|rate|account|plan|free|trial) .{0,20}(limit|quota|credits?|allowance)\b.{0,40}(exceed|reach|over|hit|exhaust|used)/,
  /(exceed\w*|reach\w*|over|hit|exhausted|out of|maximum|no) .{0,40}(daily|hourly|monthly|per (hour|day|minute|month|second)|sending|messages? (limit|quota|allowed)|recipients? (limit|quota)|credits|plan limit)/,
  /(daily|hourly|monthly) (user )?(sending |message )?(limit|quota)|too many (messages|recipients|e-?mails) (sent |received )?(this|per|today|in (?!to\b)(?!the (to|cc)\b)|from|by)/,
  /\byour (e-?mail account|account|subscription|plan|trial|organi[sz]ation|sending|access|domain|api key|smtp)\b.{0,80}(suspend|disabl|block|lock|clos|expir|terminat|review|restrict|revok|paus|not (active|allowed|permitted|enabled)|deactivat)/,
  /(this|the|sending|sender|smtp|sandbox|mail) (account|domain|subdomain|user)\b.{0,60}(not (allowed|permitted|authori[sz]ed|enabled|able) to send|suspended for|is disabled for sending|disabled for (abuse|sending)|test purposes|under review)/,
  /(account|sending|service|access).{0,20}(is )?(currently )?(suspended|paused|disabled) (due|because|for|until|pending|as)|account (under review|on hold)/,
  /\brecipients? (count )?limit|\bdomain \S+ (is )?not (allowed|permitted) to send/,
  /\byour (mail ?box|account|storage)\b.{0,40}(full|over|exceed)/,
  /limit (on|of) .{0,40}(messages|mails|emails|recipients)|exceeded your (?!mail ?box|storage|inbox).{0,30}limits?/,
  /\byour (smtp |e-?mail |mail )?(user|mail ?box|login|account)\b.{0,40}\b(suspend|disabl|block|lock|expir|deactivat|inactive|delet|remov|clos|terminat|unknown|invalid|no longer|(does |was |is |could |can)?n(ot|'t) (be )?(exist|found|known|valid|registered|recogni[sz]ed|active))/,
  /\b(suspended|locked|blocked|disabled)\b.{0,40}\b(spamming|(resume|for) sending|too many|(non-?|pending )payment|unpaid|overdue)/,
  /^(the |this )?(user )?account (is |has been |was )?(temporarily |permanently )?suspended\W*$/,
  /\b(cannot|can'?t) relay\b|relaying (is )?(disallowed|disabled)|configured to relay|refused: relay|forwarding to remote hosts/,
  /\bauth(entication)? (command )?first\b|\bsend auth\b|turn on smtp auth|\b(user|client) certificate\b/,
  /user unknown or .{0,20}password|password wrong|permissions? to send(?! to)|to use smtp|smtp access .{0,20}disabled|on probation|in probation/,
  /credits? (is |are )?(exhausted|used up|expired)|payment required|outgoing mail .{0,60}suspended/,
  /number of (e-?mails|messages|recipients) (allowed )?per (hour|day|minute|month)|(account|user|mail ?box) (is )?not (allowed|permitted|authori[sz]ed) to send/,
  /\bip (address )?not (white|allow) ?listed for\b|trial accounts?\b/,
  /sandbox|free accounts? (are|is)|authorized recipients|please (activate|verify|upgrade|contact) your (account|plan|domain)/,
  /you (do(n'?t| not) have an?|have no) (account|mail ?box)|not (allowed|authori[sz]ed|permitted) to send (e?-?mails? |messages? )?(through|via|using|with)/,
  /permission to (submit|relay)|\bas a relay\b|relaying (is )?refused|to use this (relay|smtp|(mail )?server)/,
  /\bpop before smtp\b|check for new mail before|\bauth(entication)? (is )?required\b/,
  /outbound (e-?)?mail\b.{0,40}(disabled|suspended|blocked)|\bpending approval\b/,
  /\byour (account|plan|subscription)\b.{0,20}(does(n'?t| not)|do not) (allow|include|permit)/,
];

/** Match replies about the IP address, the host name or the DNS records of the sending service, or about blocklists. */
const REPUTATION: readonly RegExp[] = [
  /\b(refuses?|rejects?|blocks?) (all )?(e-?)?(mails?|messages?) from (unknown|unverified|external|new|strangers)/,
  // The recipient accepts email only from some senders. Such replies are similar to replies about a missing login.
  /\bresolver\.rst\b/,
  // qmail writes "mail exchanger or IP address" about a domain that does not exist.
  /(?<!exchanger or )\b(ip|client|sending|connecting|source|your) (ip )?(address|host|server)\b|\bip=|\bip you're using/,
  /\b(server|sending|source|client|your) ip\b|\b(server|client|your)\b.{0,20}\bhost ?name\b/,
  // A receiver that counts wrong addresses refuses the sender's list. The text says nothing about this recipient.
  /too many (invalid|unknown|bad|wrong|non-?exist\w*|undeliverable|failed (?!log|auth))|\bharvest/,
  /reverse (dns|host)|invalid dns mx|\bmx or a\b|\bptr\b|\bhelo\b|\behlo\b|\br?dns (record|lookup)/,
  /spamhaus|spamcop|barracuda(central|networks)|barracuda reputation|sorbs|senderscore|abuseix|uceprotect|invaluement|surbl|\b(dns|r)bls?\b|\(bl\)/,
  /(black|block|deny) ?list|reputation|\b(spf|dkim|dmarc|arc)\b/,
];

const MESSAGE: readonly RegExp[] = [
  /message (size |length |body |file )?(is )?(too (big|large|long)|exceed|larger than)/,
  /(?<!box )size (limit )?exceed|message size \d+( bytes)? exceed|exceed\S* .{0,30}(message|mail|fixed|maximum) ?(size|limit)|maximum message size|too large/,
  /\bvirus\b|malware|infected|potential security issue|\btrojan|ransomware/,
  /(attachment|file ?type|extension).*(not allowed|blocked|rejected|prohibited)/,
  /\brfc ?-?\d*822\b|rfc ?5322|rfc ?2047|missing a valid/,
  /(missing|invalid|multiple|duplicate) .{0,20}header|headers? .*(malformed|missing|invalid)/,
  /\b(header|link|url)\b[^.;]{0,40}\b(unknown|invalid|malformed|non-?existent)|(missing|invalid|no) (start |final |mime )?boundary/,
  /(illegal|malicious|dangerous|harmful) (attachment|content|file)/,
  /\b(reply-to|message-id|list header)\b.{0,40}\b(unknown|invalid|not (valid|found)|does(n'?t| not) exist)|\b(unknown|invalid) .{0,20}list header/,
  /bare (<?lf\b|<?cr\b|newline)|(mime|content).*(malformed|conversion required)|line too long|too many hops/,
  /\buser[ -]agent\b|unknown (charset|content-transfer-encoding)/,
  /line length|malformed .{0,40}header|syntax error in .{0,20}header|bad header|mime error|duplicate message-?id/,
  /(message|mail) has no .{0,20}header|no from header|in (the )?(to|cc) header|header.{0,30}not (allowed|accepted)/,
  /(subject|header|body|message|mail) contains|not conform|\bbanned (file|content|attachment)|permanently rejected message/,
  /(attachments?|html|html mail|attachment (type|name)).{0,30}not (accepted|allowed|valid)|unknown (link|url|attachment)/,
  /\burl in (this |the )?(message|e-?mail)|transaction failed: (expected|missing|illegal|duplicate|unterminated)/,
];

const FULL: readonly RegExp[] = [
  /(mail ?box|account|inbox|user|recipient|quota|storage|disk)\b.{0,60}\b(full\b|over ?quota|exceed(s|ed)\b|over its)/,
  /over ?quota|quota exceeded|exceed\S* .{0,30}(quota|storage)/,
  /out of (storage|disk|space)|insufficient (system |disk )?(storage|quota|space)|not enough (disk )?space|no space left/,
  /(space|storage) (is )?(not enough|limit)|no (room|space) (left )?in .{0,20}(mail ?box|inbox)|over (the |their |its |his |her )?(allocated|quota)/,
  /\b(mail ?box|inbox|storage)\b[^.;]{0,40}(reached (its|the|their) (max|limit|quota|capacity)|limit (is |was )?reached)/,
  /\b(user|recipient|mail ?box) has too many messages/,
  /gr[ea]y ?list|receiving mail (at a rate|too (quickly|fast|often))/,
  new RegExp(
    `(${RECIPIENT_WORD}|e-?mail address|subscriber|employee|person)\\b[^.;]{0,40}\\btemporarily|${RECIPIENT_WORD} (is )?(too )?busy`,
  ),
];

const DEAD: readonly RegExp[] = [
  new RegExp(
    `(no such|unknown|invalid|non-?exist[ea]nt|bad|undefined) (local )?(${ANY_WORD}|person|destination|local[ -]part|mbox|domain (at this|here))`,
  ),
  new RegExp(
    `${ANY_WORD}\\b[^.;]{0,80}\\b(unknown(?! (host|client|sender|source|ip))|invalid|not (be )?found|does(n'?t| not) exist|non-?exist[ea]nt|unregistered|no longer exists|permanently (removed|deleted))`,
  ),
  new RegExp(`\\b(subscriber|employee|person)\\b[^.;]{0,40}\\b(unknown|not (be )?found|does(n'?t| not) exist|${GONE})`),
  /ADDRESS[ :>]{0,3}(is |was |could )?(unknown(?! (host|client|sender|source|ip))|not (be )?(found|known|recogni[sz]ed)|does(n'?t| not) exist|no longer exists|non-?existent)/,
  /\baddress (is |was |has been )?(inactive|deactivated|closed|deleted|discontinued|terminated|expired)\b|\b(user|mail ?box|recipient) is gone\b/,
  new RegExp(
    `${ANY_WORD}\\b[^.;]{0,80}\\b(isn'?t|not) (a )?(known|valid|exist|registered|recogni[sz]ed|allocated|listed|here|on this|in (our|my))`,
  ),
  new RegExp(`${RECIPIENT_WORD}\\b[^.;]{0,80}\\b${GONE}|${GONE} ${RECIPIENT_WORD}`),
  new RegExp(`not a ((known|valid|local|deliverable) ${ANY_WORD}|mail ?box\\b)|not our (customer|user)|unroute?able`),
  /does(n'?t| not) have an? .{0,40}account|no (valid |such )?(mail ?box|account|user|recipient|one|address)\b.{0,30}\b(here|by that|named|with that|like that)|no mail ?box for|no (valid )?(mail ?box|account|user|recipient)\b.{0,30}\bfound/,
  /nobody (here|by that|of that|with that)|we do(n'?t| not) have an? .{0,20}(address|user|mail ?box)|\brcpt\b[^.;]{0,20}does(n'?t| not) exist/,
  /\bmbox not found\b|(this|that) e-?mail address (has been|was|is) (deactivated|deleted|removed|discontinued|closed)|former employee|address (is )?no longer in service/,
  /doesn'?t live here|do(es)? not have an? (user|mail ?box)|has left (the|our)|use?r[ _]unknown|nosuchuser|recip(ient)?notfound|recipient (is )?not exist/,
  /\bno longer (with us|employed|works?)|no longer (available|active|in use|valid) at this/,
  /\b(address|mail ?box|user|recipient) (is )?no longer (accept|receiv|exist|available|active|in use|valid)/,
  /does not accept (any )?mail(?! from)|null ?mx|undeliverable address|domain .{0,40}does(n'?t| not) exist/,
  /recipient address rejected: (undeliverable|invalid|unverified|user|unknown|address)/,
  /\b(user|recipient|account) (is )?not local\b|recipient (address )?(cannot|can'?t|could not) be verified/,
  /(unable|not able) to find .{0,20}(user|recipient|mailbox)|cannot find (your )?recipient/,
];
/**
 * Match replies about an unavailable mailbox. RFC 5321 §4.2.3 uses these words for policies, too, so replies about a
 * policy are checked first.
 */
const UNAVAILABLE: readonly RegExp[] = [
  /mail ?box (is )?(un|not )(available|reachable)|mail ?box .{0,80}unavailable|mail ?box cannot be accessed|user account (is )?(un|not )available/,
];
const UNREACHABLE: readonly RegExp[] = [
  /(host|domain)( or domain)? (name )?not found|name service error|no route to host|network is unreachable/,
  /unable to look ?up host|name or service not known|loops back to|lost connection with|queue\.expired|message expired/,
  /connection (timed out|refused)|retry timeout exceeded|delivery (time|attempts?) (expired|exceeded)/,
];
/**
 * Matches replies that an account or address no longer exists, but that do not say whether it is the sender's or the
 * recipient's.
 */
const DEAD_IF_OF_RECIPIENT = new RegExp(
  `(account|address|e-?mail)\\b[^.;]{0,80}\\b${GONE}|${GONE} (account|address)|account not available`,
);

/** Match replies that receivers use for any unwanted email. More specific patterns are checked first. */
const SPAM: readonly RegExp[] = [
  /\b(spam|unsolicited|ube|uce|junk|phish\w*|bulk mail|dt:spm)\b|content (rejected|filter|denied)|message content/,
  /rejected (due to|because of|by) .{0,20}(content|filter)/,
];
const UNWANTED: readonly RegExp[] = [
  /blocked|banned|abuse|complaint|proofpoint|cloudmark|mimecast/,
  /polic(y|ies)|prohibit|suspicious|authori[sz]ed|authenticat|administrati/,
  /accepts? (e-?)?mails? (only )?from|access denied|not accepted|not permitted|command rejected|not wanted|refused by/,
  /frequency limited|bounce attacks?|rejected by (the )?recipients?\b|(is|was|are) listed (on|in|at|by)|\b(mi|rp):[a-z]{3}\b/,
  /does(n'?t| not) accept (any )?(e-?mails?|messages?) from|not accepting (e-?)?mails? from/,
  /helo command|fully-qualified|nested mail|no valid recipients|command not recognized|bad sequence/,
];

/**
 * The groups of patterns, in the order in which they are matched with the lower-case text. The first match is the
 * result. Each group matches replies that later groups would classify wrongly.
 */
const WORDS: readonly (readonly [RefusalClass, readonly RegExp[]])[] = [
  ['account', SENDER],
  ['account', LOGIN],
  ['policy', REPUTATION],
  ['message', MESSAGE],
  ['account', ACCOUNT],
  ['mailbox_for_now', FULL],
  ['dead_mailbox', DEAD],
  ['message', SPAM],
  ['policy', UNWANTED],
  ['dead_mailbox', UNAVAILABLE],
  ['routing', UNREACHABLE],
];

const ADDRESS = /<?[^\s<>]+@[^\s<>]+>?/g;
const LINK = /https?:\S+/g;
const CODES_IN_TEXT = /\b[245]\d\d[ -](?=[245]\.\d)|\b[245]\.\d{1,3}\.\d{1,3}\b/g;
const FOREIGN_CLASSES: Readonly<Record<ForeignClass, RefusalClass>> = {
  sender: 'account',
  blocklist: 'policy',
  message: 'message',
  account: 'account',
  mailbox_for_now: 'mailbox_for_now',
  dead_mailbox: 'dead_mailbox',
};
const REFUSED_ADDRESS_CODES = new Set([550, 551, 553, 511]);

/**
 * Classifies a reply by its text. Addresses and links in the text are ignored. Undefined if the text is not specific.
 */
export function classifyText(text: string, code: number | null): TextClass | undefined {
  const words = normalizeReply(text);
  for (const [found, patterns] of WORDS) {
    if (patterns.some((pattern) => pattern.test(words))) return { class: found, namesSender: patterns === SENDER };
    if (patterns === DEAD && DEAD_IF_OF_RECIPIENT.test(words) && OF_RECIPIENT.test(words))
      return { class: 'dead_mailbox', namesSender: false };
  }
  // Cisco's appliances write `550 #5.1.0 Address rejected ann@example.org`.
  if (code !== null && REFUSED_ADDRESS_CODES.has(code) && /^(#?[\d.]+ )?address rejected\.?( ADDRESS)?$/.test(words))
    return { class: 'dead_mailbox', namesSender: false };
  const foreign = classifyForeignRefusal(words);
  return foreign && { class: FOREIGN_CLASSES[foreign], namesSender: foreign === 'sender' };
}

/**
 * Converts a reply to lower case, and removes links and codes. Replaces each address by the word ADDRESS, because an
 * address may contain a word such as "spam".
 */
function normalizeReply(text: string): string {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').replace(LINK, ' ').replace(ADDRESS, ' ADDRESS ');
  return plain.replace(CODES_IN_TEXT, ' ').replace(/ {2,}/g, ' ').trim();
}
