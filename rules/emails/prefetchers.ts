/**
 * The table of programs that fetch pixels and links automatically. Fetches by these programs count only in
 * `machine_opens` and `machine_clicks`. Image proxies that fetch when a human opens the email (Gmail's, Yahoo's) are
 * not in this table, because such a fetch is an open. Source: contract §9.4 Automated opens.
 */

/** The properties of a request for a pixel or a link. */
export interface Fetch {
  method: string;
  userAgent: string;
  /** The value of the first of these headers that the request has: `Sec-Purpose`, `Purpose`, `X-Purpose`, `X-Moz`. */
  purpose: string;
}

export type FetchKind = 'open' | 'click';

interface Prefetcher {
  /** Name of the program. */
  name: string;
  agent: RegExp;
  /** Set if the program automates only one kind of fetch. */
  only?: FetchKind;
}

const PREFETCHERS: readonly Prefetcher[] = [
  // Loads every image when an email arrives, even if no one opens it. The short user agent is the only sign of it.
  { name: 'Apple Mail Privacy Protection', agent: /^Mozilla\/5\.0$/, only: 'open' },
  // Gmail's proxy fetches some images when an email arrives, with this user agent of 2015. When someone opens the
  // email, the proxy uses the name GoogleImageProxy.
  { name: 'Gmail prefetch', agent: /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246/ },
  {
    name: 'Microsoft Safe Links and Defender',
    agent: /safelinks|microsoft office existence|bingpreview|skypeuripreview/i,
  },
  { name: 'Barracuda', agent: /barracuda/i },
  { name: 'Proofpoint', agent: /proofpoint|pphosted/i },
  { name: 'Mimecast', agent: /mimecast/i },
  { name: 'Cisco IronPort and Talos', agent: /ironport|cisco[- ]?(secure|umbrella|esa)|talos/i },
  { name: 'Symantec and Broadcom', agent: /symantec|messagelabs|brightmail/i },
  { name: 'Trend Micro', agent: /trend ?micro/i },
  { name: 'Sophos', agent: /sophos|reflexion/i },
  { name: 'Fortinet', agent: /fortiguard|fortinet|fortimail/i },
  { name: 'Forcepoint and Websense', agent: /forcepoint|websense/i },
  { name: 'Zscaler', agent: /zscaler/i },
  { name: 'Cloudmark, Cyren, Vade', agent: /cloudmark|cyren|commtouch|vade ?(secure|retro)/i },
  {
    name: 'Antivirus',
    agent: /kaspersky|bitdefender|\beset\b|mcafee|trellix|fireeye|f-?secure|virustotal|urlscan/i,
  },
  // The patterns of chat services do not match their apps, in which people click links.
  { name: 'Chat and social previews', agent: /facebookexternalhit|facebot|whatsapp\/|slack-imgproxy|pinterest\/0/i },
  // Names of crawlers end in "bot". CUBOT is a brand of phones, and GoogleImageProxy fetches for a person.
  {
    name: 'Crawlers',
    agent: /(?<!cu)bot\b|crawl|spider|slurp|mediapartners|archiver|\bpreview\b|link ?check|url ?check|scanner|phish/i,
  },
  {
    name: 'Link previews and surveys of the web',
    agent:
      /iframely|embedly|mastodon\/|googleother|google-read-aloud|chatgpt-user|palo ?alto|netcraft|censysinspect|pingdom|safedns|zgrab/i,
  },
  { name: 'Browsers without a screen', agent: /headless|phantomjs|puppeteer|playwright|selenium/i },
];

/**
 * Matches HTTP libraries that scanners and developers' tests often use. Libraries that email apps on phones use to load
 * images are not included.
 */
const LIBRARY =
  /^(?:$|curl|wget|python|aiohttp|httpx|go-http|java|apache-httpclient|node|undici|axios|got\b|ruby|faraday|php|guzzle|libwww|perl|rust|reqwest|winhttp|powershell|postmanruntime|insomnia|httpie|http\.rb)/i;

const PREFETCH = /prefetch|preview|prerender/i;

/**
 * A fetch sooner than this after the sending comes from a scanner, because no human opens or clicks an email that fast.
 */
const EARLY_MS: Record<FetchKind, number> = { open: 1_000, click: 2_000 };

/**
 * Returns why a fetch counts as made by a bot: the name of the program, `HEAD request`, `prefetch` or `HTTP library`.
 * Undefined if the fetch may be by a human. With `lenient`, HTTP libraries count as humans: in development on a
 * loopback address, they are the developer's tests.
 */
export function findBotName(fetch: Fetch, kind: FetchKind, p: { lenient: boolean }): string | undefined {
  if (fetch.method === 'HEAD') return 'HEAD request';
  if (PREFETCH.test(fetch.purpose)) return 'prefetch';
  const agent = fetch.userAgent.slice(0, 1000).trim();
  const match = PREFETCHERS.find(({ agent: pattern, only }) => (only ?? kind) === kind && pattern.test(agent));
  if (match) return match.name;
  return !p.lenient && LIBRARY.test(agent) ? 'HTTP library' : undefined;
}

/** Tells whether a fetch came so soon after the email was sent that a human could not have made it. */
export function isTooEarly(kind: FetchKind, p: { at: Date; sentAt: Date | null }): boolean {
  return p.sentAt !== null && p.at.getTime() - p.sentAt.getTime() < EARLY_MS[kind];
}
