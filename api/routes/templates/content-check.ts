import type { Compute } from '../../../compute/compute.ts';
import { compileForSending } from '../../../compute/contents.ts';
import { type AuthoredContent, contentSource } from '../../../rules/content/content.ts';
import { TemplateError, templateRefusal } from '../../../rules/content/template-error.ts';

/**
 * Checks that an email's content can be sent: its templates parse, and a trial rendering without a contact ends in
 * time. A content that exceeds the time limit without any data would exceed it for every recipient.
 * @throws AppError VALIDATION_ERROR with line and column (contract §4.2 Limits of a template); RATE_LIMIT_EXCEEDED if
 * the project has used up its budget
 */
export async function refuseBadContent(
  compute: Compute,
  p: { projectId: string; content: AuthoredContent },
): Promise<void> {
  const { projectId, content } = p;
  try {
    const source = contentSource(content, true);
    const work = { projectId, kind: 'content.check' };
    const { plain, key } = await compileForSending(compute, work, source);
    if (!plain) await compute.inThread(work, 'content.trial', { key, source });
  } catch (error) {
    if (error instanceof TemplateError) throw templateRefusal(error);
    throw error;
  }
}
