import { singleLine } from '../mime/mime-headers.ts';
import {
  type AuthoredContent,
  compileContent,
  contentSource,
  type RenderedContent,
  type RenderInput,
  renderContent,
} from './content.ts';
import { textAsHtml } from './content-prepare.ts';
import { htmlToText } from './content-text.ts';
import { NO_TEXT } from './email-text.ts';
import { contentFindings, type Finding } from './findings.ts';
import { parseTemplate } from './liquid.ts';
import { requiredVariables } from './required-variables.ts';

/** A content as one recipient reads it, with the findings for its sender. */
export interface ContentReview extends RenderedContent {
  /** Preview text beside the subject. Null if there is no preheader. */
  preheader: string | null;
  findings: Finding[];
  /** Variables without a fallback, see `requiredVariables`. */
  required: string[];
}

/**
 * Reviews a content without pixel and counted links. Call it under a time limit for rendering. @throws TemplateError
 */
export function reviewContent(content: AuthoredContent, input: RenderInput): ContentReview {
  const rendered = renderedAs(content, input);
  // The body as the author wrote it: without a footer, and with only the author's own unsubscribe link.
  const own = renderedAs({ ...NO_TEXT, body: content.body, type: 'TRANSACTIONAL' }, input);
  const { html, subject } = rendered;
  const reviewed = { body: content.body, type: content.type, namesUnsubscribe: own.namesUnsubscribe, subject, html };
  return {
    subject,
    preheader: content.preheader ? shownPreheader(content.preheader, input) : null,
    html,
    text: rendered.text,
    findings: contentFindings({ ...reviewed, text: own.text }),
    required: requiredVariables(content),
  };
}

function shownPreheader(preheader: string, input: RenderInput): string {
  const body = textAsHtml(parseTemplate(preheader, 'html', 'preheader'));
  return singleLine(htmlToText(renderedAs({ ...NO_TEXT, body, type: 'TRANSACTIONAL' }, input).html));
}

function renderedAs(content: AuthoredContent, { vars, urls }: RenderInput) {
  const compiled = compileContent(contentSource(content, false));
  return { ...renderContent(compiled, vars, urls), namesUnsubscribe: compiled.needsUnsubscribe };
}
