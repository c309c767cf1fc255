import { Parser } from 'htmlparser2';
import { scanHtml } from './content-html.ts';
import { isShortener } from './link-shorteners.ts';
import { parseTemplate } from './liquid.ts';

/**
 * Codes of the findings about a content. The review of a campaign has these findings, too
 * (`rules/campaigns/review.ts`).
 */
export const CONTENT_FINDINGS = [
  'no_text',
  'no_unsubscribe_link',
  'missing_variables',
  'bad_link',
  'link_shortener',
  'image_without_alt',
  'html_too_large',
  'subject_too_long',
] as const;
export type ContentFinding = (typeof CONTENT_FINDINGS)[number];

export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A problem or a remark for the sender, before sending. */
export interface Finding<Code extends string = ContentFinding> {
  code: Code;
  severity: Severity;
  /** One sentence for users. */
  message: string;
  details: Record<string, unknown>;
}

/** A content as its author wrote it, and as rendered for one recipient without tracking of opens and clicks. */
export interface ReviewedContent {
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
  /** True if the author's body contains the unsubscribe link. */
  namesUnsubscribe: boolean;
  subject: string;
  html: string;
  /** The text part without the text that the service adds. */
  text: string;
}

/** Gmail shows about this much of an email and hides the rest, including the unsubscribe link. */
const HTML_MAX_BYTES = 100 * 1024;
/** The recommended length of a header line (RFC 5322 §2.1.1). Email clients show less. */
const SUBJECT_MAX_CHARS = 78;
/** The maximum number of examples in a finding. */
const EXAMPLES_MAX = 20;

/**
 * Lists the findings about a content. The time grows with the size of the content, so large contents are reviewed in a
 * worker thread (`reviewWithinBudget`).
 * @throws TemplateError
 */
export function listContentFindings(content: ReviewedContent): Finding[] {
  const { invalid, shortened } = findLinkProblems(content.body);
  return [
    ...listTextFindings(content),
    ...listFinding(invalid, {
      code: 'bad_link',
      severity: 'error',
      noun: 'links',
      problem: 'lead nowhere: they are not http or https.',
    }),
    ...listFinding(shortened, {
      code: 'link_shortener',
      severity: 'warning',
      noun: 'links',
      problem: 'go to a link shortener, which spam filters count against the sender.',
    }),
    ...listFinding(listImagesWithoutAlt(content.html), {
      code: 'image_without_alt',
      severity: 'warning',
      noun: 'images',
      problem: 'have no alt text.',
    }),
    ...listSizeFindings(content),
  ];
}

/**
 * Returns the finding about missing variables. `contacts` has the number of contacts without a value, by variable.
 * Empty if no contact lacks a value.
 */
export function listMissingVariablesFindings(contacts: Record<string, number>): Finding[] {
  const missing = Object.entries(contacts).filter(([, count]) => count > 0);
  if (missing.length === 0) return [];
  const message = `Some recipients lack ${missing.map(([name]) => name).join(', ')}: nothing is shown there. Give a default with ??.`;
  return [
    { code: 'missing_variables', severity: 'warning', message, details: { variables: Object.fromEntries(missing) } },
  ];
}

function listTextFindings({ text, type, namesUnsubscribe }: ReviewedContent): Finding[] {
  const findings: Finding[] = [];
  // Ignores addresses, because an image with a link has the address of the link as its text.
  if (text.replaceAll(/[[<]?\b[a-z][a-z+.-]{0,20}:[^\s\]>]+[\]>]?/gi, '').trim() === '') {
    const message =
      'The body has no text. Recipients who do not load images see nothing, and filters treat such email as spam.';
    findings.push({ code: 'no_text', severity: 'warning', message, details: {} });
  }
  if (!namesUnsubscribe) {
    const message =
      type === 'MARKETING'
        ? 'The body has no unsubscribe link: a footer with the link will be added.'
        : 'The body has no unsubscribe link: if it is sent as MARKETING, a footer with the link will be added.';
    findings.push({
      code: 'no_unsubscribe_link',
      severity: 'info',
      message,
      details: { footer: type === 'MARKETING' },
    });
  }
  return findings;
}

function listSizeFindings({ subject, html }: ReviewedContent): Finding[] {
  const findings: Finding[] = [];
  const bytes = Buffer.byteLength(html);
  if (bytes > HTML_MAX_BYTES) {
    const message = `The HTML is ${Math.ceil(bytes / 1024)} kB: Gmail hides everything after 100 kB.`;
    findings.push({
      code: 'html_too_large',
      severity: 'warning',
      message,
      details: { bytes, maxBytes: HTML_MAX_BYTES },
    });
  }
  const characters = [...subject].length;
  if (characters > SUBJECT_MAX_CHARS) {
    const message = `The subject is ${characters} characters long: email programs show at most ${SUBJECT_MAX_CHARS} of it.`;
    const details = { characters, maxCharacters: SUBJECT_MAX_CHARS };
    findings.push({ code: 'subject_too_long', severity: 'warning', message, details });
  }
  return findings;
}

/** Returns one finding about all links or images with the same problem. The list is empty if none has the problem. */
function listFinding(
  found: string[],
  {
    code,
    severity,
    noun,
    problem,
  }: { code: ContentFinding; severity: Severity; noun: 'links' | 'images'; problem: string },
): Finding[] {
  if (found.length === 0) return [];
  const details = { count: found.length, [noun]: found.slice(0, EXAMPLES_MAX) };
  return [{ code, severity, message: `${found.length} of the ${noun} ${problem}`, details }];
}

/** Lists the invalid links of a body, and the links to a link shortener. Each link is listed once, as written. */
function findLinkProblems(body: string): { invalid: string[]; shortened: string[] } {
  const invalid = new Set<string>();
  const shortened = new Set<string>();
  for (const { parts } of scanHtml(body, parseTemplate(body, 'html', 'body').tokens).links) {
    const [first] = parts;
    // If a link starts with a variable or a block, its target is unknown.
    if (typeof first !== 'string') continue;
    const written = parts.map((part) => (typeof part === 'string' ? part : body.slice(part.begin, part.end))).join('');
    if (!isAddress(first.trim(), parts.length > 1)) invalid.add(written.trim());
    const host = /^https?:\/\/(?:[^/?#@]*@)?([^/?#:\s]+)/i.exec(first.trim())?.[1];
    if (host && isShortener(host)) shortened.add(written.trim());
  }
  return { invalid: [...invalid], shortened: [...shortened] };
}

/**
 * Tells whether the constant start of an address is valid. `hasMore` is true if a variable or a block follows. Anchors,
 * email addresses and phone numbers are valid.
 */
function isAddress(begin: string, hasMore: boolean): boolean {
  if (/^(?:#|mailto:|tel:|sms:)/i.test(begin)) return true;
  return hasMore ? /^https?:\/\//i.test(begin) : /^https?:\/\/[^/?#\\\s]/i.test(begin) && URL.canParse(begin);
}

/**
 * Lists images without the attribute `alt`. An image with an empty `alt` is not listed, because an empty `alt` marks it
 * as decorative.
 */
function listImagesWithoutAlt(html: string): string[] {
  const sources: string[] = [];
  const parser = new Parser({
    onopentag: (name, { alt, src }) => {
      if (name === 'img' && alt === undefined) sources.push(src ?? '');
    },
  });
  parser.end(html);
  return sources;
}
