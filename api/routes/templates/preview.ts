import { createRoute, z } from '@hono/zod-openapi';
import { getReader } from '../../../db/contacts/readers.ts';
import { listMissingVariablesFindings } from '../../../rules/content/findings.ts';
import { listMissingVariables } from '../../../rules/content/required-variables.ts';
import { AppError } from '../../../rules/errors.ts';
import { unwrapValues } from '../../../rules/filters/data-values.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { anyJsonObject } from '../../http/free-json.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { Id } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { buildReaderVariables, reviewContent, SAMPLE_READER } from '../content-review.ts';
import { emailTemplatesInput, mergeEmailText } from '../email-text.ts';
import { FindingRecord } from '../finding-response.ts';
import { Type } from './input.ts';

const PreviewTemplate = z
  .object({
    ...emailTemplatesInput,
    type: Type.default('TRANSACTIONAL').openapi({
      description: 'The body of a MARKETING email without an unsubscribe link gets a footer with the link',
    }),
    contactId: Id.nullish().openapi({ description: 'Contact to render the template for; needs `contacts:view`' }),
    data: anyJsonObject('The data of a preview')
      .nullish()
      .openapi({ description: "Values that replace the contact's values of the same name" }),
  })
  .openapi('PreviewTemplate', {
    example: { subject: 'Welcome, {{firstName}}', body: '<p>Hello {{firstName}}</p>', data: { firstName: 'Ada' } },
  });

const Preview = z
  .object({
    subject: z.string(),
    preheader: z.string().nullable().openapi({
      description:
        'Rendered preview text, which email apps show beside the subject. `html` contains it as hidden text.',
    }),
    html: z.string(),
    text: z.string(),
    missingVariables: z.array(z.string()).openapi({ description: 'Variables that have neither a value nor a default' }),
    findings: z.array(FindingRecord),
  })
  .openapi('TemplatePreview', {
    example: {
      subject: 'Welcome, Ada',
      preheader: null,
      html: '<p>Hello Ada</p>',
      text: 'Hello Ada',
      missingVariables: [],
      findings: [],
    },
  });

const previewRoute = createRoute({
  method: 'post',
  path: '/templates/preview',
  operationId: 'previewTemplate',
  idempotency: 'none',
  tags: ['Templates'],
  summary: 'Preview a template',
  description:
    'Renders a template without saving or sending it. Returns subject, preheader, HTML and text as the contact `contactId` would read them, or rendered without a contact. Also returns missing variables, and findings about the content. Links of the service, such as the unsubscribe link, are placeholders. If the template cannot be parsed, the response is 422, with line and column in `details`.',
  security: allowScopes('templates:view'),
  request: { body: jsonBody(PreviewTemplate) },
  responses: { 200: jsonResponse(Preview), ...errorResponses('NOT_FOUND') },
});

/** Registers the preview of a template. */
export function registerTemplatePreviewRoutes(app: App, { config, db, compute }: Deps): void {
  app.openapi(previewRoute, async (c) => {
    const { projectId, project, scopes: callerScopes } = c.var;
    const { contactId, data, type, ...text } = c.req.valid('json');
    if (contactId && !callerScopes.has('contacts:view'))
      throw new AppError('FORBIDDEN', { details: { requiredScope: 'contacts:view' } });
    const reader = contactId ? await getReader(db, { projectId, id: contactId }) : SAMPLE_READER;
    const vars = buildReaderVariables(reader, { zone: project.timezone, overrides: unwrapValues(data ?? {}) });
    const content = { ...mergeEmailText<string | null>(text), type };
    const review = await reviewContent(compute, { projectId, content, vars, publicUrl: config.publicUrl });
    const { required, findings, ...rendered } = review;
    const missing = listMissingVariables(required, vars.values);
    const missingFindings = listMissingVariablesFindings(Object.fromEntries(missing.map((name) => [name, 1])));
    return c.json({ ...rendered, missingVariables: missing, findings: [...findings, ...missingFindings] }, 200);
  });
}
