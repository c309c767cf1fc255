/** Names of the records of a seeded project: realistic ones, or ones that attack the dashboard. */
export interface Voice {
  /**
   * Returns a name of at most `max` characters. In realistic projects it is `words`. `n` makes names of the same kind
   * differ.
   */
  say(words: string, n: number, max: number): string;
  /** Returns the name of an event. In realistic projects it is `name`. */
  event(name: string, n: number): string;
  /** Returns additional data of the nth contact. */
  data(n: number): Record<string, unknown>;
  /** Returns the local part of an address. Hostile ones are as long as an address may be. */
  address(words: string, n: number): string;
}

export const PLAIN: Voice = {
  say: (words, _n, max) => words.slice(0, max),
  event: (name) => name,
  data: () => ({}),
  address: (words, n) => `${words}${n}@example.com`,
};

const MARKUP = `"'><img src=x onerror="alert('ran')"><script>alert('ran')</script><svg/onload=alert('ran')><b>bold</b>`;
const LINKS = `<a href="javascript:alert('ran')">[click](javascript:alert('ran'))</a> data:text/html,<script>alert('ran')</script>`;
const RIGHT_TO_LEFT = '\u202eمرحبا بالعالم\u2066 שלום עולם\u2069 evil\u202dexe.gpj \u200f<i>';
const STACKED = 'Z\u0351\u0346\u0315\u0363\u0325\u0326a\u0352\u0307\u034bl\u0334\u0337\u0321go '.repeat(20);
const ONE_WORD = 'Donaudampfschifffahrtsgesellschaft'.repeat(300);
const PROTOTYPE = '__proto__ constructor toString null undefined NaN';
const KINDS = [MARKUP, ONE_WORD, RIGHT_TO_LEFT, LINKS, STACKED, PROTOTYPE];

/**
 * Text that attacks the dashboard: markup, links that run scripts, right-to-left text with overrides, stacked accents,
 * a word of 10,000 characters, and names of built-in properties of objects.
 */
export const HOSTILE: Voice = {
  say: (_words, n, max) => `${n} ${KINDS[n % KINDS.length]}`.slice(0, max).trim(),
  event: (_name, n) => `${n} ${KINDS[n % KINDS.length]}`.slice(0, 255).trim(),
  data: (n) => ({
    firstName: KINDS[n % KINDS.length],
    [`${MARKUP.slice(0, 60)} ${n % 3}`]: MARKUP,
    ['k'.repeat(100)]: ONE_WORD,
    constructor: n,
    tags: [MARKUP, RIGHT_TO_LEFT, ONE_WORD],
    address: { city: RIGHT_TO_LEFT, deep: { deeper: { deepest: [MARKUP] } } },
  }),
  address: (_words, n) => `${`${n}-`.padEnd(64, 'x')}@${`${'d'.repeat(60)}.`.repeat(2)}example.com`,
};
