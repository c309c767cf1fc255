import { type Context, type Emitter, Liquid, Tag, type TagToken, type Template, type TopLevelToken } from 'liquidjs';
import { type GuardKind, guardValue } from './interpolation-guard.ts';
import { registerArithmetic } from './liquid-arithmetic.ts';
import { registerDates } from './liquid-dates.ts';
import { registerTextFilters } from './liquid-texts.ts';
import { COUNTED_LINK } from './liquid-tokens.ts';
import { escapeHtml, toPlainText } from './plain-value.ts';
import { TemplateError } from './template-error.ts';
import { cleanUntrustedText } from './untrusted-text.ts';

/** `html` escapes values, `plain` (subjects, text parts, links) does not. */
export type Escaping = 'html' | 'plain';

/** The maximum length of one rendered part of a message. */
export const OUTPUT_MAX_CHARS = 3_000_000;
/** The maximum output of all filters in one rendering, as the library counts it (about one per character). */
const MEMORY_LIMIT = 10_000_000;

/**
 * The tags that a template may use. `include`, `render`, `layout` and `block` are excluded, because templates have no
 * other files. `liquid` and `echo` are excluded, because they only repeat other syntax.
 */
const ALLOWED_TAGS = new Set(
  'assign break capture case comment continue cycle decrement for if increment raw tablerow unless #'.split(' '),
);

/**
 * The filters that a template may use. These filters have no side effects. Filters that evaluate text as code (such as
 * `where_exp`) or return a different result each time are excluded.
 */
const ALLOWED_FILTERS = new Set(
  (
    'abs append array_to_sentence_string at_least at_most base64_decode base64_encode capitalize ceil cgi_escape compact ' +
    'concat date date_to_long_string date_to_rfc822 date_to_string date_to_xmlschema default divided_by downcase escape ' +
    'escape_once find find_index first floor group_by has hmac_sha256 join json jsonify last lstrip map minus modulo ' +
    'newline_to_br normalize_whitespace number_of_words plus pop prepend push raw reject remove remove_first remove_last ' +
    'replace replace_first replace_last reverse round rstrip sha256 shift size slice slugify sort sort_natural split ' +
    'squish strip strip_html strip_newlines sum times to_integer truncate truncatewords uniq unshift upcase uri_escape ' +
    'url_decode url_encode where xml_escape'
  ).split(' '),
);

/**
 * Filters whose cost depends only on the length of one value. A template with only these filters and no loop needs no
 * time limit.
 */
export const CHEAP_FILTERS: ReadonlySet<string> = new Set(
  'abs capitalize ceil date default divided_by downcase escape first floor last lstrip minus modulo plus raw round rstrip size strip times truncate upcase __guard __raw'.split(
    ' ',
  ),
);

/** Matches a web address without a host. Browsers would use the first part of its path as the host. */
const HOSTLESS = /^\s*https?:\/\/(?:[/?#\\.\s]|$)/i;

/**
 * The tag `counted_link` around an address. Its argument is the number of the link. Writes the click link with this
 * number if the rendered address is a web address, `#` if it is a web address without a host, else the address itself.
 */
class CountedLink extends Tag {
  private readonly index: number;
  private readonly templates: Template[] = [];

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    this.index = Number(token.args);
    while (rest.length > 0) {
      const next = rest.shift();
      if (next === undefined || ('name' in next && next.name === `end${COUNTED_LINK}`)) return;
      this.templates.push(liquid.parser.parseToken(next, rest));
    }
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, string> {
    const address = yield this.liquid.renderer.renderTemplates(this.templates, context);
    if (HOSTLESS.test(address)) emitter.write('#');
    else emitter.write(/^\s*https?:\/\//i.test(address) ? findClickLink(context.environments, this.index) : address);
  }
}

/** Engines for templates that tenants write. */
export const PUBLIC_ENGINES = { html: createEngine('html', false), plain: createEngine('plain', false) };
/**
 * Engines for templates that `prepareContent` has prepared. Only these engines have the guard filters, which clean
 * untrusted values.
 */
export const GUARDED_ENGINES = { html: createEngine('html', true), plain: createEngine('plain', true) };

function createEngine(escaping: Escaping, hasGuards: boolean): Liquid {
  const liquid = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    memoryLimit: MEMORY_LIMIT,
    timezoneOffset: 0, // Dates in an email do not depend on the time zone of the host.
    locale: 'en-US',
    outputEscape: escaping === 'html' ? escapeHtml : toPlainText,
  });
  for (const name of Object.keys(liquid.tags)) if (!ALLOWED_TAGS.has(name)) delete liquid.tags[name];
  for (const name of Object.keys(liquid.filters)) if (!ALLOWED_FILTERS.has(name)) liquid.unregisterFilter(name);
  registerArithmetic(liquid);
  registerDates(liquid);
  registerEscapes(liquid, escaping);
  registerTextFilters(liquid);
  if (hasGuards) registerGuards(liquid);
  return liquid;
}

/**
 * Replaces the library's filters that produce markup. Values are escaped by default, so the library's `escape` would
 * escape twice, and its `newline_to_br` would show `<br />` as text.
 */
function registerEscapes(liquid: Liquid, escaping: Escaping): void {
  const escapeText = escaping === 'html' ? escapeHtml : toPlainText;
  for (const name of ['escape', 'escape_once', 'xml_escape'])
    liquid.registerFilter(name, { raw: escaping === 'html', handler: (value: unknown) => escapeText(value) });
  if (escaping === 'html')
    liquid.registerFilter('newline_to_br', {
      raw: true,
      handler: (value: unknown) => escapeHtml(value).replace(/\r?\n/g, '<br />\n'),
    });
  liquid.registerFilter('replace', replaceBounded);
}

/**
 * Limits the output of `replace`. The library counts only the input, although a short pattern with a long replacement
 * can produce much more text.
 */
function replaceBounded(value: unknown, pattern: unknown, replacement: unknown): string {
  const parts = toPlainText(value).split(toPlainText(pattern));
  const by = toPlainText(replacement);
  if (parts.length * by.length > OUTPUT_MAX_CHARS) throw new TemplateError('replace makes more text than is allowed');
  return parts.join(by);
}

function registerGuards(liquid: Liquid): void {
  liquid.registerFilter('__guard', function (value: unknown, kind: GuardKind, ...names: string[]) {
    return guardValue(toPlainText(value), kind, hasUntrustedName(this.context.environments, names));
  });
  liquid.registerTag(COUNTED_LINK, CountedLink);
  liquid.registerFilter('__raw', {
    raw: true,
    handler(value: unknown, ...names: string[]) {
      const text = toPlainText(value);
      return hasUntrustedName(this.context.environments, names) ? escapeHtml(cleanUntrustedText(text)) : text;
    },
  });
}

/** Returns the click link with this number, from the variable `__click`. */
function findClickLink(scope: object, index: number): unknown {
  return '__click' in scope && Array.isArray(scope.__click) ? scope.__click[index] : undefined;
}

/**
 * Tells whether one of the names is untrusted, by the variable `__untrusted`. The name `*` means any untrusted name.
 */
function hasUntrustedName(scope: object, names: string[]): boolean {
  const untrusted = '__untrusted' in scope ? scope.__untrusted : undefined;
  if (!Array.isArray(untrusted) || untrusted.length === 0) return false;
  return names.some((name) => name === '*' || untrusted.includes(name));
}
