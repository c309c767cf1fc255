import { createRoute } from '@hono/zod-openapi';
import { createDns } from '../../../channels/dns.ts';
import { verifyEmail } from '../../../rules/emails/verify-email.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowAnySecretKey } from '../../http/security.ts';
import { VerifyRequest } from './input.ts';
import { Verification } from './response.ts';

const verifyRoute = createRoute({
  method: 'post',
  path: '/v1/verify',
  operationId: 'verifyEmail',
  idempotency: 'none',
  tags: ['Verification'],
  summary: 'Verify an email address',
  description:
    'Checks the syntax of the address, looks its domain up in lists of disposable, personal and relay domains, and checks the DNS. If the DNS does not respond within 3 seconds, this alone does not make the address invalid, and `reasons` says that the lookup failed.',
  security: allowAnySecretKey(),
  invalid: 400,
  request: { body: jsonBody(VerifyRequest) },
  responses: { 200: jsonResponse(Verification) },
});

export function registerVerifyRoutes(app: App, { config }: Deps): void {
  const dns = createDns({ servers: config.dnsServers, cached: true });

  app.openapi(verifyRoute, async (c) => {
    const data = await verifyEmail(dns, c.req.valid('json').email);
    return c.json({ success: true as const, data }, 200);
  });
}
