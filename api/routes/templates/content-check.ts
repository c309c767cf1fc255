import type { Compute } from '../../../compute/compute.ts';
import { compileForSending } from '../../../compute/contents.ts';
import { type AuthoredContent, toContentSource } from '../../../rules/content/content.ts';
import { type EmailTemplates, NO_TEXT } from '../../../rules/content/email-text.ts';
import { findUnfinishedOutput } from '../../../rules/content/liquid.ts';
import { TemplateError, toTemplateRefusal } from '../../../rules/content/template-error.ts';

const TEMPLATES = ['subject', 'body', 'preheader'] as const satisfies readonly (keyof EmailTemplates)[];

/**
 * Checks that an email's content can be sent. Its templates must parse and have no unfinished `{{` output. Rendering
 * them without a contact must take less than the time limit. If rendering takes too long without any data, it would
 * take too long for every recipient.
 * @param p.stored stored emails; the templates that they contain are accepted even if a newer rule refuses them
 * @throws AppError VALIDATION_ERROR with line and column (contract §4.2 Limits of a template); RATE_LIMIT_EXCEEDED if
 * the project has used up its budget
 */
export async function refuseBadContent(
  compute: Compute,
  p: { projectId: string; content: AuthoredContent; stored?: readonly EmailTemplates[] },
): Promise<void> {
  const { projectId, stored = [] } = p;
  const content = omitStoredTemplates(p.content, stored);
  if (content === undefined) return;
  try {
    const source = toContentSource(content, true);
    const work = { projectId, kind: 'content.check' };
    const { compiled, key } = await compileForSending(compute, work, source);
    if (!compiled) await compute.runInThread(work, 'content.trial', { key, source });
    const unfinished = TEMPLATES.map((field) => findUnfinishedOutput(content[field] ?? '', field)).find(Boolean);
    if (unfinished) throw unfinished;
  } catch (error) {
    if (error instanceof TemplateError) throw toTemplateRefusal(error);
    throw error;
  }
}

/**
 * Returns the content with empty strings instead of templates that are already stored. Undefined if all of them are
 * stored.
 */
function omitStoredTemplates(content: AuthoredContent, stored: readonly EmailTemplates[]): AuthoredContent | undefined {
  const storedFields = TEMPLATES.filter((field) => stored.some((text) => text[field] === content[field]));
  if (storedFields.length === TEMPLATES.length) return undefined;
  return { ...content, ...Object.fromEntries(storedFields.map((field) => [field, NO_TEXT[field]])) };
}
