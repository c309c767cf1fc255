import { compileContent } from '../domain/content.ts';
import { TemplateError, templateRefusal } from '../domain/template-error.ts';

/**
 * Checks that subject and body are templates that can be sent.
 * @throws AppError VALIDATION_ERROR with line and column (decisions §4)
 */
export function refuseBadContent(content: {
  subject: string;
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
}): void {
  try {
    compileContent({ ...content, trackOpens: true, trackClicks: true });
  } catch (error) {
    if (error instanceof TemplateError) throw templateRefusal(error);
    throw error;
  }
}
