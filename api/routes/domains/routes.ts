import { createRoute, z } from '@hono/zod-openapi';
import { createDns } from '../../../channels/dns.ts';
import {
  type Domain,
  deleteDomain,
  getDomain,
  insertDomain,
  listDomains,
  saveDomainCheck,
  updateDomainSigning,
} from '../../../db/domains.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Config } from '../../../domain/config.ts';
import { newDkimKey } from '../../../domain/dkim-key.ts';
import { AppError } from '../../../domain/errors.ts';
import { recordSource } from '../../../domain/record-source.ts';
import { deriveKey } from '../../../domain/secrets.ts';
import { dnsRecords, findRecords, normalizeDomain, RECORD_PURPOSES } from '../../../domain/sender-domain.ts';
import { errors, json, noContent, ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { Id, IdParams, Instant } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';

const EXAMPLE = {
  id: '0190a000-0000-7000-8000-000000000000',
  domain: 'example.com',
  verified: false,
  status: 'PENDING' as const,
  signing: true,
  records: [
    {
      purpose: 'DKIM' as const,
      type: 'TXT' as const,
      name: 'tidings-1a2b3c4d._domainkey.example.com',
      value: 'v=DKIM1; k=rsa; p=MIIBIjANBg…',
      required: true,
      found: false,
    },
  ],
  lastCheckedAt: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

const DomainRecord = z
  .object({
    id: Id,
    domain: z.string(),
    verified: z.boolean(),
    status: z.enum(['PENDING', 'VERIFIED', 'FAILED']),
    signing: z.boolean().openapi({ description: 'Whether the service signs mail from this domain (DKIM)' }),
    records: z.array(
      z.object({
        purpose: z.enum(RECORD_PURPOSES),
        type: z.enum(['TXT', 'MX']),
        name: z.string(),
        value: z.string(),
        required: z.boolean(),
        found: z.boolean(),
      }),
    ),
    lastCheckedAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Domain', { example: EXAMPLE });

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

const CreateDomain = z
  .object({ domain: DomainName.openapi({ type: 'string', example: 'example.com' }) })
  .openapi('CreateDomain', { example: { domain: 'example.com' } });

const PatchDomain = z.object({ signing: z.boolean() }).openapi('PatchDomain', { example: { signing: false } });

const listRoute = createRoute({
  method: 'get',
  path: '/domains/project/{projectId}',
  operationId: 'listDomains',
  tags: ['Domains'],
  summary: "List the project's domains",
  description: 'Verified and pending ones, newest first. Another project is 404.',
  security: scopes('domains:view'),
  request: { params: z.object({ projectId: Id }) },
  responses: { 200: ok(z.array(DomainRecord)), ...errors('NOT_FOUND') },
});

const createDomainRoute = createRoute({
  method: 'post',
  path: '/domains',
  operationId: 'createDomain',
  tags: ['Domains'],
  summary: 'Register a domain to send from',
  description:
    'Makes its DKIM key and answers the DNS records to publish. It is checked every 5 minutes, and is verified once the required ones are found.',
  security: scopes('domains:edit'),
  request: { body: json(CreateDomain) },
  responses: { 201: ok(DomainRecord, 'Registered'), ...errors('CONFLICT') },
});

const verifyRoute = createRoute({
  method: 'get',
  path: '/domains/{id}/verify',
  operationId: 'verifyDomain',
  tags: ['Domains'],
  summary: 'Check the DNS records of a domain now',
  description: 'Answers the domain after the check, with `found` for each record.',
  security: scopes('domains:view'),
  request: { params: IdParams },
  responses: { 200: ok(DomainRecord) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/domains/{id}',
  operationId: 'updateDomain',
  tags: ['Domains'],
  summary: 'Turn signing of a domain on or off',
  description: 'Off where the relay that mail goes through signs itself.',
  security: scopes('domains:edit'),
  request: { params: IdParams, body: json(PatchDomain) },
  responses: { 200: ok(DomainRecord) },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/domains/{id}',
  operationId: 'deleteDomain',
  tags: ['Domains'],
  summary: 'Detach a domain',
  description: '409 while a template, a step or an unsent campaign sends from it.',
  security: scopes('domains:edit'),
  request: { params: IdParams },
  responses: { 204: noContent('Detached'), ...errors('CONFLICT') },
});

export function domainRoutes(app: App, { db, config }: Deps): void {
  const atRestKey = deriveKey(config.secretKey, 'at-rest');
  const dns = createDns({ servers: config.dnsServers, cached: false });

  app.openapi(listRoute, async (c) => {
    const { projectId } = c.var;
    if (c.req.valid('param').projectId.toLowerCase() !== projectId) throw new AppError('NOT_FOUND');
    const domains = await listDomains(db, projectId);
    return c.json(
      domains.map((domain) => domainAnswer(domain, config)),
      200,
    );
  });

  app.openapi(createDomainRoute, async (c) => {
    const { domain } = c.req.valid('json');
    const key = await newDkimKey();
    const created = await insertDomain(db, { projectId: c.var.projectId, domain, key, atRestKey });
    return c.json(domainAnswer(created, config), 201);
  });

  app.openapi(verifyRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const checked = await findRecords(dns, recordSource(config, await getDomain(db, ref)));
    const domain = await inTransaction(db, (trx) => saveDomainCheck(trx, { ...ref, checked, now: new Date() }));
    return c.json(domainAnswer(domain, config), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const domain = await updateDomainSigning(db, { ...ref, signing: c.req.valid('json').signing });
    return c.json(domainAnswer(domain, config), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await inTransaction(db, (trx) => deleteDomain(trx, ref));
    return c.body(null, 204);
  });
}

function domainAnswer(domain: Domain, config: Config) {
  return {
    id: domain.id,
    domain: domain.domain,
    verified: domain.status === 'VERIFIED',
    status: domain.status,
    signing: domain.signing,
    records: dnsRecords(recordSource(config, domain), domain.found),
    lastCheckedAt: domain.lastCheckedAt?.toISOString() ?? null,
    createdAt: domain.createdAt.toISOString(),
    updatedAt: domain.updatedAt.toISOString(),
  };
}
