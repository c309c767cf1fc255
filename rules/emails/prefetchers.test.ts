import { describe, expect, it } from 'vitest';
import { readThreadCpuMs } from '../time-limit.ts';
import { findBotName, isTooEarly } from './prefetchers.ts';

const strict = { lenient: false };
const createFetch = (userAgent: string, purpose = '') => ({ method: 'GET', userAgent, purpose });

const HUMANS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0',
  'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Microsoft Outlook 16.0.17928; ms-office; MSOffice 16)',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  'Mozilla/5.0 (Linux; Android 9; CUBOT NOTE S) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Avast/131.0.0.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [LinkedInApp]/9.30',
  'Mozilla/5.0 (Macintosh) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.41.98 Chrome/130.0 Electron/33.1 Safari/537.36',
  'Mail/3826 CFNetwork/1568.300.101 Darwin/24.2.0',
  'okhttp/4.12.0',
];

const BOTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
  'BarracudaCentral/1.0 (link protection)',
  'Mozilla/5.0 (compatible; Mimecast URL scanner)',
  'Mozilla/5.0 (compatible; ProofpointURLDefense)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116.0 Safari/537.36',
  'Iframely/1.3.1 (+https://iframely.com/docs/about)',
  'Mozilla/5.0 (compatible; CensysInspect/1.1)',
  'http.rb/5.1 (Mastodon/4.2.0)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'WhatsApp/2.23.20.0',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36',
];

describe('a fetch of a pixel or link', () => {
  it.each(HUMANS)('is by a human: %s', (agent) => {
    expect(findBotName(createFetch(agent), 'open', strict)).toBeUndefined();
    expect(findBotName(createFetch(agent), 'click', strict)).toBeUndefined();
  });

  it.each(BOTS)('is by a bot, also in development: %s', (agent) => {
    expect(findBotName(createFetch(agent), 'open', { lenient: true })).toBeDefined();
    expect(findBotName(createFetch(agent), 'click', { lenient: true })).toBeDefined();
  });

  it('Apple Mail Privacy Protection opens every email, and clicks none', () => {
    expect(findBotName(createFetch('Mozilla/5.0'), 'open', strict)).toBe('Apple Mail Privacy Protection');
    expect(findBotName(createFetch('Mozilla/5.0'), 'click', strict)).toBeUndefined();
  });

  it.each(['curl/8.9.1', 'python-requests/2.32', 'Go-http-client/2.0', 'node', ''])(
    'the program "%s" is a bot, except in development',
    (agent) => {
      expect(findBotName(createFetch(agent), 'click', strict)).toBe('HTTP library');
      expect(findBotName(createFetch(agent), 'click', { lenient: true })).toBeUndefined();
    },
  );

  it('is by a bot if it declares a prefetch, or is a HEAD request', () => {
    const browser = HUMANS[0] ?? '';
    expect(findBotName(createFetch(browser, 'prefetch;prerender'), 'click', strict)).toBe('prefetch');
    expect(findBotName({ ...createFetch(browser), method: 'HEAD' }, 'click', strict)).toBe('HEAD request');
  });

  it('is by a bot if it comes less than one second after the sending for an open, or two seconds for a click', () => {
    const sentAt = new Date('2026-11-21T10:00:00Z');
    const createTimes = (ms: number) => ({ at: new Date(sentAt.getTime() + ms), sentAt });
    expect(isTooEarly('click', createTimes(1_999))).toBe(true);
    expect(isTooEarly('click', createTimes(2_000))).toBe(false);
    expect(isTooEarly('open', createTimes(999))).toBe(true);
    expect(isTooEarly('open', createTimes(1_000))).toBe(false);
    expect(isTooEarly('open', { at: sentAt, sentAt: null })).toBe(false);
  });

  it('is classified quickly, even with a very long user agent', () => {
    const startedMs = readThreadCpuMs();
    findBotName(createFetch('link '.repeat(200_000)), 'click', strict);
    expect(readThreadCpuMs() - startedMs).toBeLessThan(50);
  });
});
