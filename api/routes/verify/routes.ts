import { createRoute, z } from '@hono/zod-openapi';
import { createDns } from '../../../channels/dns.ts';
import { verifyEmail } from '../../../domain/verify-email.ts';
import { json, ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { EmailAddress, success } from '../../http/schemas.ts';
import { anySecretKey } from '../../http/security.ts';

/** No server has to take a longer part before the `@` (RFC 5321 §4.5.3.1.1): as a question about one address, it is not well-formed. */
const LOCAL_PART_MAX_BYTES = 64;

const Verifiable = EmailAddress.check((ctx) => {
  if (Buffer.byteLength(ctx.value.slice(0, ctx.value.lastIndexOf('@'))) <= LOCAL_PART_MAX_BYTES) return;
  const message = `At most ${LOCAL_PART_MAX_BYTES} characters stand before the @`;
  ctx.issues.push({ code: 'custom', message, input: ctx.value, params: { code: 'invalid_string' } });
});

const VerifyRequest = z.object({ email: Verifiable }).openapi('VerifyEmail', { example: { email: 'ada@gmial.com' } });

const Verification = success(
  z.object({
    email: z.string(),
    valid: z.boolean().openapi({ description: 'The domain exists and takes mail, and is not disposable' }),
    isDisposable: z.boolean(),
    isAlias: z.boolean(),
    isTypo: z.boolean(),
    isPlusAddressed: z.boolean(),
    isPersonalEmail: z.boolean(),
    domainExists: z.boolean(),
    hasWebsite: z.boolean(),
    hasMxRecords: z.boolean(),
    suggestedEmail: z.string().optional(),
    reasons: z.array(z.string()),
  }),
).openapi('EmailVerification', {
  example: {
    success: true,
    data: {
      email: 'ada@gmial.com',
      ...{ valid: false, isDisposable: false, isAlias: false, isTypo: true, isPlusAddressed: false },
      ...{ isPersonalEmail: false, domainExists: true, hasWebsite: true, hasMxRecords: false },
      suggestedEmail: 'ada@gmail.com',
      reasons: ['The domain says that it takes no mail.', 'This may be a typing error for ada@gmail.com.'],
    },
  },
});

const verifyRoute = createRoute({
  method: 'post',
  path: '/v1/verify',
  operationId: 'verifyEmail',
  tags: ['Verification'],
  summary: 'Verify an email address',
  description:
    'By its form, lists of disposable, personal and relay domains, and the DNS. A DNS that does not answer within 3 seconds makes ' +
    'nothing invalid; `reasons` says so.',
  security: anySecretKey(),
  invalid: 400,
  request: { body: json(VerifyRequest) },
  responses: { 200: ok(Verification) },
});

export function verifyRoutes(app: App, { config }: Deps): void {
  const dns = createDns({ servers: config.dnsServers, cached: true });

  app.openapi(verifyRoute, async (c) => {
    const data = await verifyEmail(dns, c.req.valid('json').email);
    return c.json({ success: true as const, data }, 200);
  });
}
