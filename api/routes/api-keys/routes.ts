import { createRoute, z } from '@hono/zod-openapi';
import { truncateLists } from '../../../db/page-budget.ts';
import { insertApiKey, listApiKeys, replacePublicKey, revokeApiKey } from '../../../db/projects/api-keys.ts';
import { insertAudit } from '../../../db/projects/audit-log.ts';
import { getProject } from '../../../db/projects/projects.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { generatePublicKey, generateSecretKey } from '../../../rules/access/api-keys.ts';
import { findUngrantableScopes } from '../../../rules/access/scopes.ts';
import { AppError } from '../../../rules/errors.ts';
import { formatActor, requireUser } from '../../http/actor.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams, TruncatedLists } from '../../http/schemas.ts';
import { allowSession } from '../../http/security.ts';
import { Project, toProjectResponse } from '../project/response.ts';
import { CreateApiKey } from './input.ts';
import { ApiKeyRecord, CreatedApiKey, toApiKeyResponse } from './response.ts';

const createKeyRoute = {
  ...createRoute({
    method: 'post',
    path: '/apikeys',
    operationId: 'createApiKey',
    // Ignoring a misspelled `expiresAt` or `scopes` would create a key with more rights than requested.
    unknownFields: 'refuse',
    shownOnce: ['key'],
    tags: ['API keys'],
    summary: 'Create a secret key',
    description:
      'Returns the key in plaintext. This is the only time that the key is shown. You can give the key only scopes that API keys may have and that you have yourself.',
    security: allowSession('apikeys:manage'),
    request: { body: jsonBody(CreateApiKey) },
    responses: { 201: jsonResponse(CreatedApiKey, 'The key in plaintext') },
  }),
  record: ApiKeyRecord,
};

const listKeysRoute = createRoute({
  method: 'get',
  path: '/apikeys',
  operationId: 'listApiKeys',
  tags: ['API keys'],
  summary: 'List the secret keys',
  description: 'All keys of the project, including revoked keys, newest first. Keys and hashes are never returned.',
  security: allowSession('apikeys:manage'),
  responses: { 200: jsonResponse(z.object({ data: z.array(ApiKeyRecord), truncated: TruncatedLists })) },
});

const revokeKeyRoute = createRoute({
  method: 'post',
  path: '/apikeys/{id}/revoke',
  operationId: 'revokeApiKey',
  tags: ['API keys'],
  summary: 'Revoke a secret key',
  description:
    'Takes effect immediately and cannot be undone. Revoking a key again changes nothing and returns the first `revokedAt`.',
  security: allowSession('apikeys:manage'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(ApiKeyRecord) },
});

const rotatePublicRoute = createRoute({
  method: 'post',
  path: '/apikeys/public/rotate',
  operationId: 'rotatePublicKey',
  tags: ['API keys'],
  summary: 'Replace the public key',
  description: 'Returns the project with its new `public` key. The old key stops working immediately.',
  security: allowSession('apikeys:manage'),
  responses: { 200: jsonResponse(Project) },
});

export function registerApiKeyRoutes(app: App, { db, keys }: Deps): void {
  app.openapi(createKeyRoute, async (c) => {
    const { name, scopes, expiresAt, mode } = c.req.valid('json');
    refuseUngrantableScopes(scopes, c.var.scopes);
    refusePastExpiry(expiresAt);
    const { projectId } = c.var;
    const { key, hash, prefix } = generateSecretKey(mode);
    const record = await inTransaction(db, async (trx) => {
      const created = await insertApiKey(trx, {
        projectId,
        name,
        hash,
        prefix,
        scopes: [...new Set(scopes)],
        mode,
        createdBy: requireUser(c).id,
        expiresAt: expiresAt ?? null,
      });
      await insertAudit(trx, {
        projectId,
        action: 'apikey.created',
        actor: formatActor(c.var.actor),
        target: created.id,
        ip: readClientAddress(c),
        details: { name, scopes, mode, prefix },
      });
      return created;
    });
    return c.json({ ...toApiKeyResponse(record), key }, 201);
  });

  app.openapi(listKeysRoute, async (c) => {
    const records = await listApiKeys(db, c.var.projectId);
    return c.json(truncateLists({ data: records.map(toApiKeyResponse) }), 200);
  });

  app.openapi(rotatePublicRoute, async (c) => {
    const { projectId } = c.var;
    const { key, hash, prefix } = generatePublicKey();
    await inTransaction(db, async (trx) => {
      await replacePublicKey(trx, { projectId, key, hash });
      await insertAudit(trx, {
        projectId,
        action: 'apikey.rotated',
        actor: formatActor(c.var.actor),
        target: null,
        ip: readClientAddress(c),
        details: { prefix },
      });
    });
    keys.clear();
    return c.json(toProjectResponse(await getProject(db, projectId)), 200);
  });

  app.openapi(revokeKeyRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { projectId } = c.var;
    const record = await inTransaction(db, async (trx) => {
      const { key, changed } = await revokeApiKey(trx, { projectId, id });
      if (changed) {
        await insertAudit(trx, {
          projectId,
          action: 'apikey.revoked',
          actor: formatActor(c.var.actor),
          target: id,
          ip: readClientAddress(c),
          details: { name: key.name, prefix: key.prefix },
        });
      }
      return key;
    });
    // Clears the cache of this process before the response is sent. Other processes got a NOTIFY at the commit.
    keys.clear();
    return c.json(toApiKeyResponse(record), 200);
  });
}

function refuseUngrantableScopes(requestedScopes: string[], callerScopes: ReadonlySet<string>): void {
  const ungrantable = new Set(findUngrantableScopes(requestedScopes, callerScopes));
  if (ungrantable.size === 0) return;
  const errors = requestedScopes.flatMap((scope, i) =>
    ungrantable.has(scope)
      ? [{ field: `scopes.${i}`, message: `You cannot grant the scope ${scope}.`, code: 'invalid_enum_value' }]
      : [],
  );
  throw new AppError('VALIDATION_ERROR', { errors });
}

function refusePastExpiry(expiresAt: Date | null | undefined): void {
  if (!expiresAt || expiresAt.getTime() > Date.now()) return;
  throw new AppError('VALIDATION_ERROR', {
    errors: [{ field: 'expiresAt', message: 'Must be in the future.', code: 'too_small' }],
  });
}
