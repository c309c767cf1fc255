import type { Compute } from '../../compute/compute.ts';
import { reviewWithinBudget } from '../../compute/contents.ts';
import type { Reader } from '../../db/contacts/readers.ts';
import type { AuthoredContent } from '../../rules/content/content.ts';
import type { ContentReview } from '../../rules/content/review.ts';
import { TemplateError, toTemplateRefusal } from '../../rules/content/template-error.ts';
import { buildVariables } from '../../rules/content/variables.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { markTrusted, markUntrusted, type Sourced } from '../../rules/provenance/provenance.ts';

/** The reader of a review or preview that is not rendered for a contact. */
export const SAMPLE_READER: Reader = { id: '', email: 'someone@example.com', data: {}, untrustedKeys: [] };
/**
 * Tokens for links in previews. They belong to no email, so the pages behind these links show an error and unsubscribe
 * no one.
 */
const NO_TOKENS = { track: 'preview', manage: 'preview' };

/**
 * Returns the variables with which a content is rendered for a contact (the reader). Values in `overrides` replace
 * values of the contact's data.
 */
export function buildReaderVariables(
  { id, email, data, untrustedKeys }: Reader,
  { zone, overrides = {} }: { zone: string; overrides?: Data },
): Sourced<Data> {
  return buildVariables({
    contact: { id, email, data: markUntrusted(data, untrustedKeys) },
    data: markTrusted(overrides),
    zone,
  });
}

/**
 * Renders a content with the variables `vars`, and returns the findings about it. A large or costly content is reviewed
 * in a thread and charged to the project's budget.
 * @throws AppError VALIDATION_ERROR with line and column if a template does not parse, or cannot be rendered with these
 * variables; OverBudget
 */
export async function reviewContent(
  compute: Compute,
  p: { projectId: string; content: AuthoredContent; vars: Sourced<Data>; publicUrl: string },
): Promise<ContentReview> {
  const input = { vars: p.vars, urls: { baseUrl: p.publicUrl, ...NO_TOKENS } };
  const work = { projectId: p.projectId, kind: 'content.review' };
  try {
    return await reviewWithinBudget(compute, work, { content: p.content, input });
  } catch (error) {
    if (error instanceof TemplateError) throw toTemplateRefusal(error);
    throw error;
  }
}
