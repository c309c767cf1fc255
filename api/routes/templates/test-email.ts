import { createRoute, z } from '@hono/zod-openapi';
import { inTransaction } from '../../../db/transaction.ts';
import { insertTestEmail } from '../../../engine/campaigns/test-email.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { EmailAddress, EXAMPLE_ID, Id } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { emailTextInput, mergeEmailText, splitSender } from '../email-text.ts';
import { refuseBadContent } from './content-check.ts';

const TestTemplate = z
  .object({ email: EmailAddress.openapi({ description: 'Recipient of the test' }), ...emailTextInput })
  .transform(splitSender)
  .openapi('TestTemplate', {
    example: {
      email: 'ada@example.com',
      subject: 'Welcome, {{firstName}}',
      body: '<p>Hello {{firstName}}</p>',
      from: 'hello@example.com',
    },
  });

const TemplateTestSent = z
  .object({ success: z.literal(true), data: z.object({ emailId: Id, email: z.string() }), message: z.string() })
  .openapi('TemplateTestSent', {
    example: {
      success: true,
      data: { emailId: EXAMPLE_ID, email: 'ada@example.com' },
      message: 'A test email is on its way to ada@example.com.',
    },
  });

const testRoute = createRoute({
  method: 'post',
  path: '/templates/test',
  operationId: 'testTemplate',
  unknownFields: 'refuse',
  tags: ['Templates'],
  summary: 'Send a test email of a template',
  description:
    'The content does not have to be saved. The subject starts with "[TEST] ". If a contact has the address, the email is rendered for this contact. No contact is created.',
  security: allowScopes('email:send'),
  request: { body: jsonBody(TestTemplate) },
  responses: {
    200: jsonResponse(TemplateTestSent),
    ...errorResponses('DOMAIN_NOT_VERIFIED', 'BILLING_LIMIT_EXCEEDED'),
  },
});

/** Registers the operation that sends a test email of a template. */
export function registerTemplateTestRoutes(app: App, { db, compute, outbox }: Deps): void {
  app.openapi(testRoute, async (c) => {
    const { projectId, mode, project } = c.var;
    const { email, ...textInput } = c.req.valid('json');
    const text = mergeEmailText<string>(textInput);
    await refuseBadContent(compute, { projectId, content: { ...text, type: 'TRANSACTIONAL' } });
    const { emailId, outbox: queued } = await inTransaction(db, (trx) =>
      insertTestEmail(trx, { projectId, text, email, mode, monthlyEmailLimit: project.monthlyEmailLimit }),
    );
    outbox.wake(queued);
    const message = `A test email is on its way to ${email}.`;
    return c.json({ success: true as const, data: { emailId, email }, message }, 200);
  });
}
