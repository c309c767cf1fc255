import { z } from '@hono/zod-openapi';
import type { Template } from '../../../db/contents/templates.ts';
import type { Listed } from '../../../db/page-budget.ts';
import { EXAMPLE_ID, Id, Instant, numberedListFields, Slug, Truncated, TruncatedLists } from '../../http/schemas.ts';
import { EMAIL_TEXT_EXAMPLE, emailTextResponse } from '../email-text.ts';
import { Type } from './input.ts';

const EXAMPLE = {
  id: EXAMPLE_ID,
  name: 'Welcome',
  slug: 'welcome',
  description: null,
  ...EMAIL_TEXT_EXAMPLE,
  type: 'TRANSACTIONAL' as const,
  topicId: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

export const TemplateRecord = z
  .object({
    id: Id,
    name: z.string(),
    slug: Slug,
    description: z.string().nullable(),
    ...emailTextResponse,
    from: emailTextResponse.from.nullable(),
    type: Type,
    topicId: Id.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Template', { example: EXAMPLE });

const ListedTemplate = TemplateRecord.extend({ body: z.string().optional(), truncated: Truncated }).openapi(
  'ListedTemplate',
  {
    example: EXAMPLE,
  },
);

export const TemplateList = z
  .object({ templates: z.array(ListedTemplate), ...numberedListFields })
  .openapi('TemplateList', {
    example: { templates: [EXAMPLE], page: 1, pageSize: 20, total: 1, totalPages: 1, cursor: null, hasMore: false },
  });

export const Usage = z
  .object({
    campaigns: z.array(z.object({ id: Id, name: z.string() })),
    workflowSteps: z.array(z.object({ id: Id, name: z.string(), workflowId: Id, workflowName: z.string() })),
    emailsSent: z.number().int(),
    truncated: TruncatedLists,
  })
  .openapi('TemplateUsage', { example: { campaigns: [], workflowSteps: [], emailsSent: 120 } });

export function toListedResponse({ truncated, ...template }: Listed<Template>) {
  const { body, ...response } = toTemplateResponse(template);
  return truncated ? { ...response, truncated: true as const } : { ...response, body };
}

export function toTemplateResponse(template: Template) {
  return { ...template, createdAt: template.createdAt.toISOString(), updatedAt: template.updatedAt.toISOString() };
}
