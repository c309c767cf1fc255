import { Parser } from 'htmlparser2';
import { scanHtml } from './content-html.ts';
import { isShortener } from './link-shorteners.ts';
import { parseTemplate } from './liquid.ts';

/** Findings of a content's review, also within a campaign's (`rules/campaigns/review.ts`). */
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

/** A problem or remark that the sender should know before sending. */
export interface Finding<Code extends string = ContentFinding> {
  code: Code;
  severity: Severity;
  /** One sentence for users. */
  message: string;
  details: Record<string, unknown>;
}

/** A content as its author wrote it, and as one recipient reads it, without pixel and counted links. */
export interface ReviewedContent {
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
  /** Whether the body contains the unsubscribe link itself. */
  namesUnsubscribe: boolean;
  subject: string;
  html: string;
  /** The text part without the service's additions. */
  text: string;
}

/** Gmail shows about this much of an email and hides the rest, including the unsubscribe link. */
const HTML_MAX_BYTES = 100 * 1024;
/** The recommended length of a header line (RFC 5322 §2.1.1). Email clients show less. */
const SUBJECT_MAX_CHARS = 78;
/** The maximum number of examples. */
const EXAMPLES_MAX = 20;

/**
 * Lists the findings of a content, from its text alone. The time grows with the size of the text, so call this function
 * under a time limit for rendering.
 * @throws TemplateError
 */
export function contentFindings(content: ReviewedContent): Finding[] {
  const { bad, shortened } = judgeLinks(content.body);
  return [
    ...textFindings(content),
    ...listFinding(bad, {
      code: 'bad_link',
      severity: 'error',
      noun: 'links',
      problem: 'lead nowhere: they are not http or https.',
    }),
    ...listFinding(shortened, {
      code: 'link_shortener',
      severity: 'warning',
      noun: 'links',
      problem: 'go to a link shortener, which spam filters count.',
    }),
    ...listFinding(imagesWithoutAlt(content.html), {
      code: 'image_without_alt',
      severity: 'warning',
      noun: 'images',
      problem: 'have no alt text.',
    }),
    ...sizeFindings(content),
  ];
}

/**
 * Returns the finding about missing variables; `contacts` is the number of contacts that lack each one. Empty if none
 * is missing.
 */
export function missingVariablesFinding(contacts: Record<string, number>): Finding[] {
  const lacking = Object.entries(contacts).filter(([, count]) => count > 0);
  if (lacking.length === 0) return [];
  const message = `Some recipients lack ${lacking.map(([name]) => name).join(', ')}: nothing is shown there. Give a default with ??.`;
  return [
    { code: 'missing_variables', severity: 'warning', message, details: { variables: Object.fromEntries(lacking) } },
  ];
}

function textFindings({ text, type, namesUnsubscribe }: ReviewedContent): Finding[] {
  const findings: Finding[] = [];
  // An image with a link still has the link's address as text.
  if (text.replaceAll(/[[<]?\b[a-z][a-z+.-]{0,20}:[^\s\]>]+[\]>]?/gi, '').trim() === '') {
    const message = 'The body has no text: who sees no images sees nothing, and filters take such mail for spam.';
    findings.push({ code: 'no_text', severity: 'warning', message, details: {} });
  }
  if (!namesUnsubscribe) {
    const message =
      type === 'MARKETING'
        ? 'The body has no unsubscribe link: a footer with it will be added.'
        : 'The body has no unsubscribe link: where it is sent as MARKETING, a footer with it will be added.';
    findings.push({
      code: 'no_unsubscribe_link',
      severity: 'info',
      message,
      details: { footer: type === 'MARKETING' },
    });
  }
  return findings;
}

function sizeFindings({ subject, html }: ReviewedContent): Finding[] {
  const findings: Finding[] = [];
  const bytes = Buffer.byteLength(html);
  if (bytes > HTML_MAX_BYTES) {
    const message = `The HTML is ${Math.ceil(bytes / 1024)} kB: Gmail cuts off what is beyond 100.`;
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

/** Returns one finding about all links or images with the same problem. An empty list if none has it. */
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

/** Lists the invalid links of a body and the links with a hidden target, as written, each once. */
function judgeLinks(body: string): { bad: string[]; shortened: string[] } {
  const bad = new Set<string>();
  const shortened = new Set<string>();
  for (const { parts } of scanHtml(body, parseTemplate(body, 'html', 'body').tokens).links) {
    const [first] = parts;
    // If a variable or a block comes first, the target is unknown.
    if (typeof first !== 'string') continue;
    const written = parts.map((part) => (typeof part === 'string' ? part : body.slice(part.begin, part.end))).join('');
    if (!isAddress(first.trim(), parts.length > 1)) bad.add(written.trim());
    const host = /^https?:\/\/(?:[^/?#@]*@)?([^/?#:\s]+)/i.exec(first.trim())?.[1];
    if (host && isShortener(host)) shortened.add(written.trim());
  }
  return { bad: [...bad], shortened: [...shortened] };
}

/**
 * Tells whether the start of an address is valid; `more` if a variable or a block follows. Anchors, email addresses and
 * phone numbers are valid.
 */
function isAddress(begin: string, more: boolean): boolean {
  if (/^(?:#|mailto:|tel:|sms:)/i.test(begin)) return true;
  return more ? /^https?:\/\//i.test(begin) : /^https?:\/\/[^/?#\\\s]/i.test(begin) && URL.canParse(begin);
}

/** Lists images without `alt`. An empty `alt` counts, because it marks the image as decorative. */
function imagesWithoutAlt(html: string): string[] {
  const without: string[] = [];
  const parser = new Parser({
    onopentag: (name, { alt, src }) => {
      if (name === 'img' && alt === undefined) without.push(src ?? '');
    },
  });
  parser.end(html);
  return without;
}
