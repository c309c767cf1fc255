import { z } from '@hono/zod-openapi';
import { TEMPLATE_NAME_MAX_CHARS, TEMPLATE_TYPES } from '../../../db/contents/templates.ts';
import type { EmailType } from '../../../db/schema/contents.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { Id, SlugInput } from '../../http/schemas.ts';
import { emailTextInput, splitSender } from '../email-text.ts';

export const LIST_DEFAULT = 20;

export const Type = z.enum(TEMPLATE_TYPES);

const fields = {
  name: z.string().trim().min(1).max(TEMPLATE_NAME_MAX_CHARS),
  slug: SlugInput.optional(),
  description: z.string().max(1000).nullish(),
  ...emailTextInput,
  from: emailTextInput.from.nullish(),
  type: Type,
  topicId: Id.nullish().openapi({ description: 'Topic of the emails; only for MARKETING' }),
};

/**
 * Refuses a topic on a TRANSACTIONAL template, because recipients cannot unsubscribe from TRANSACTIONAL email.
 * @throws AppError VALIDATION_ERROR
 */
export function refuseTopicOnTransactional(template: { type: EmailType; topicId?: string | null | undefined }): void {
  if (template.type !== 'TRANSACTIONAL' || !template.topicId) return;
  throw createFieldError('topicId', 'Only a MARKETING template can have a topic.');
}

export const CreateTemplate = z
  .object(fields)
  .transform(splitSender)
  .openapi('CreateTemplate', {
    example: { name: 'Welcome', subject: 'Welcome, {{firstName}}', body: '<p>Hello</p>', type: 'TRANSACTIONAL' },
  });

/** The fields of a template in a request, all optional. */
export const TemplateChanges = z.object(fields).partial();

export const PatchTemplate = TemplateChanges.extend({ updatedAt: ReadUpdatedAt })
  .transform(splitSender)
  .openapi('PatchTemplate', {
    example: { subject: 'Hello, {{firstName ?? there}}', replyTo: null },
  });
