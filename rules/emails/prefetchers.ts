/**
 * The only table of programs that fetch pixels and links automatically. Their fetches count in `machine_opens` and
 * `machine_clicks` and set nothing else. Image proxies that fetch when the email is opened (Gmail's, Yahoo's) are not
 * listed, because they show that a human opened it. Source: contract §9.
 */

/** Facts that a request for a pixel or a link gives about itself. */
export interface Fetch {
  method: string;
  userAgent: string;
  /** The value of the first header that the request has: `Sec-Purpose`, `Purpose`, `X-Purpose` or `X-Moz`. */
  purpose: string;
}

export type FetchKind = 'open' | 'click';

interface Prefetcher {
  /** Name of the program. */
  name: string;
  agent: RegExp;
  /** Set if only one kind of fetch is automated. */
  only?: FetchKind;
}

const PREFETCHERS: readonly Prefetcher[] = [
  // Loads every image on arrival, even if the email is never opened. It identifies itself only by this.
  { name: 'Apple Mail Privacy Protection', agent: /^Mozilla\/5\.0$/, only: 'open' },
  // Gmail's proxy fetches some images on arrival, with this user agent of 2015. When the email is opened, it uses its
  // own name.
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
  // Does not match their apps, in which people click.
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
 * HTTP libraries, with which scanners and a developer's own tests are often written. Libraries with which email apps of
 * phones load images are not included.
 */
const LIBRARY =
  /^(?:$|curl|wget|python|aiohttp|httpx|go-http|java|apache-httpclient|node|undici|axios|got\b|ruby|faraday|php|guzzle|libwww|perl|rust|reqwest|winhttp|powershell|postmanruntime|insomnia|httpie|http\.rb)/i;

const PREFETCH = /prefetch|preview|prerender/i;

/** No human opens or clicks an email as soon as it is delivered. A fetch this early is a scan on arrival. */
const EARLY_MS: Record<FetchKind, number> = { open: 1_000, click: 2_000 };

/**
 * Returns the name of the known program behind a fetch; undefined for a human. `lenient` is for a service in
 * development on a loopback address, where the developer's own programs count as humans.
 */
export function knownBotOf(fetch: Fetch, kind: FetchKind, p: { lenient: boolean }): string | undefined {
  if (fetch.method === 'HEAD') return 'HEAD request';
  if (PREFETCH.test(fetch.purpose)) return 'prefetch';
  const agent = fetch.userAgent.slice(0, 1000).trim();
  const known = PREFETCHERS.find(({ agent: pattern, only }) => (only ?? kind) === kind && pattern.test(agent));
  if (known) return known.name;
  return !p.lenient && LIBRARY.test(agent) ? 'HTTP library' : undefined;
}

/** Tells whether a fetch came sooner after the email was handed over than a human could react. */
export function isTooEarly(kind: FetchKind, p: { at: Date; sentAt: Date | null }): boolean {
  return p.sentAt !== null && p.at.getTime() - p.sentAt.getTime() < EARLY_MS[kind];
}
