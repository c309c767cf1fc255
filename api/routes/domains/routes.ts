import { createRoute, z } from '@hono/zod-openapi';
import { createDns } from '../../../channels/dns.ts';
import {
  deleteDomain,
  getDomain,
  insertDomain,
  listDomains,
  saveDomainCheck,
  updateDomainSigning,
} from '../../../db/domains/domains.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { generateDkimKey } from '../../../rules/domains/dkim-key.ts';
import { checkDnsRecords } from '../../../rules/domains/sender-domain.ts';
import { AppError } from '../../../rules/errors.ts';
import { createDnsRecordSource } from '../../../rules/provenance/record-source.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { Id, IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { CreateDomain, PatchDomain } from './input.ts';
import { DomainRecord, toDomainResponse } from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/domains/project/{projectId}',
  operationId: 'listDomains',
  tags: ['Domains'],
  summary: "List the project's domains",
  description: 'Lists verified and pending domains, newest first. Returns 404 for the id of another project.',
  security: allowScopes('domains:view'),
  request: { params: z.object({ projectId: Id }) },
  responses: { 200: jsonResponse(z.array(DomainRecord)), ...errorResponses('NOT_FOUND') },
});

const createDomainRoute = createRoute({
  method: 'post',
  path: '/domains',
  operationId: 'createDomain',
  tags: ['Domains'],
  summary: 'Add a sending domain',
  description:
    'Creates a DKIM key and returns the DNS records to publish. The service checks the records every 5 minutes. As soon as it finds all required records, the domain is verified.',
  security: allowScopes('domains:edit'),
  request: { body: jsonBody(CreateDomain) },
  responses: { 201: jsonResponse(DomainRecord, 'Registered'), ...errorResponses('CONFLICT') },
});

const verifyRoute = createRoute({
  method: 'get',
  path: '/domains/{id}/verify',
  operationId: 'verifyDomain',
  tags: ['Domains'],
  summary: 'Check the DNS records of a domain',
  description: 'Checks the DNS records now and returns the domain, with `found` for each record.',
  security: allowScopes('domains:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(DomainRecord) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/domains/{id}',
  operationId: 'updateDomain',
  tags: ['Domains'],
  summary: 'Turn DKIM signing of a domain on or off',
  description: 'Turn signing off if your mail relay signs outgoing email.',
  security: allowScopes('domains:edit'),
  request: { params: IdParams, body: jsonBody(PatchDomain) },
  responses: { 200: jsonResponse(DomainRecord) },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/domains/{id}',
  operationId: 'deleteDomain',
  tags: ['Domains'],
  summary: 'Remove a domain',
  description: 'Returns 409 while a template, a step, or a campaign that is not sent yet has a sender on this domain.',
  security: allowScopes('domains:edit'),
  request: { params: IdParams },
  responses: { 204: emptyResponse('Detached'), ...errorResponses('CONFLICT') },
});

export function registerDomainRoutes(app: App, { db, config }: Deps): void {
  const atRestKey = deriveKey(config.secretKey, 'at-rest');
  const dns = createDns({ servers: config.dnsServers, cached: false });

  app.openapi(listRoute, async (c) => {
    const { projectId } = c.var;
    if (c.req.valid('param').projectId.toLowerCase() !== projectId) throw new AppError('NOT_FOUND');
    const domains = await listDomains(db, projectId);
    return c.json(
      domains.map((domain) => toDomainResponse(domain, config)),
      200,
    );
  });

  app.openapi(createDomainRoute, async (c) => {
    const { domain } = c.req.valid('json');
    const key = await generateDkimKey();
    const created = await insertDomain(db, { projectId: c.var.projectId, domain, key, atRestKey });
    return c.json(toDomainResponse(created, config), 201);
  });

  app.openapi(verifyRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const checked = await checkDnsRecords(dns, createDnsRecordSource(config, await getDomain(db, ref)));
    const domain = await inTransaction(db, (trx) => saveDomainCheck(trx, { ...ref, checked, now: new Date() }));
    return c.json(toDomainResponse(domain, config), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const domain = await updateDomainSigning(db, { ...ref, signing: c.req.valid('json').signing });
    return c.json(toDomainResponse(domain, config), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await inTransaction(db, (trx) => deleteDomain(trx, ref));
    return c.body(null, 204);
  });
}
