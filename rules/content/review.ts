import { toSingleLine } from '../mime/mime-headers.ts';
import {
  type AuthoredContent,
  compileContent,
  type RenderedContent,
  type RenderInput,
  renderContent,
  toContentSource,
} from './content.ts';
import { convertTextToHtml } from './content-prepare.ts';
import { htmlToText } from './content-text.ts';
import { NO_TEXT } from './email-text.ts';
import { type Finding, listContentFindings } from './findings.ts';
import { parseTemplate } from './liquid.ts';
import { listRequiredVariables } from './required-variables.ts';

/** A content as rendered for one recipient, with the findings for its sender. */
export interface ContentReview extends RenderedContent {
  /** The rendered preview text. Null if the content has no preheader. */
  preheader: string | null;
  findings: Finding[];
  /** The variables without a fallback (see `listRequiredVariables`). */
  required: string[];
}

/**
 * Renders a content without tracking, and lists its findings. May take long: other rooms call `reviewWithinBudget`,
 * which reviews large contents in a worker thread.
 * @throws TemplateError
 */
export function reviewContent(content: AuthoredContent, input: RenderInput): ContentReview {
  const rendered = renderUntracked(content, input);
  // Renders the body alone, as TRANSACTIONAL, so the service adds no footer. An unsubscribe link in the result is
  // therefore the author's.
  const bodyOnly = renderUntracked({ ...NO_TEXT, body: content.body, type: 'TRANSACTIONAL' }, input);
  const { html, subject } = rendered;
  const reviewed = {
    body: content.body,
    type: content.type,
    namesUnsubscribe: bodyOnly.namesUnsubscribe,
    subject,
    html,
  };
  return {
    subject,
    preheader: content.preheader ? renderPreheader(content.preheader, input) : null,
    html,
    text: rendered.text,
    findings: listContentFindings({ ...reviewed, text: bodyOnly.text }),
    required: listRequiredVariables(content),
  };
}

function renderPreheader(preheader: string, input: RenderInput): string {
  const body = convertTextToHtml(parseTemplate(preheader, 'html', 'preheader'));
  return toSingleLine(htmlToText(renderUntracked({ ...NO_TEXT, body, type: 'TRANSACTIONAL' }, input).html));
}

function renderUntracked(content: AuthoredContent, { vars, urls }: RenderInput) {
  const compiled = compileContent(toContentSource(content, false));
  return { ...renderContent(compiled, vars, urls), namesUnsubscribe: compiled.needsUnsubscribe };
}
