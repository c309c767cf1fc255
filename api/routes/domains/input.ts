import { z } from '@hono/zod-openapi';
import { normalizeDomain } from '../../../rules/domains/sender-domain.ts';

const DomainName = z.string().transform((text, ctx) => {
  const domain = normalizeDomain(text);
  if (domain !== undefined) return domain;
  ctx.issues.push({
    code: 'custom',
    message: 'Must be a domain name',
    input: text,
    params: { code: 'invalid_string' },
  });
  return z.NEVER;
});

export const CreateDomain = z
  .object({ domain: DomainName.openapi({ type: 'string', example: 'example.com' }) })
  .openapi('CreateDomain', { example: { domain: 'example.com' } });

export const PatchDomain = z.object({ signing: z.boolean() }).openapi('PatchDomain', { example: { signing: false } });
