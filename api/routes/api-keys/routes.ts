import { createRoute, z } from '@hono/zod-openapi';
import { type ApiKey, insertApiKey, listApiKeys, revokeApiKey, updatePublicKey } from '../../../db/api-keys.ts';
import { insertAudit } from '../../../db/audit-log.ts';
import { getProject } from '../../../db/projects.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { newPublicKey, newSecretKey } from '../../../domain/api-keys.ts';
import { AppError } from '../../../domain/errors.ts';
import { GRANTABLE_SCOPES, ungrantable } from '../../../domain/scopes.ts';
import { actorName, personOf } from '../../http/actor.ts';
import { json, ok } from '../../http/answers.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { Id, IdParams, Instant, InstantInput } from '../../http/schemas.ts';
import { session } from '../../http/security.ts';
import { Project, projectAnswer } from '../project/answer.ts';

const EXAMPLE = {
  id: '0190a000-0000-7000-8000-000000000000',
  name: 'Web shop',
  prefix: 'sk_live_3f9a1c',
  scopes: ['email:send', 'contacts:edit'],
  mode: 'live' as const,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: '2026-01-01T12:00:00.000Z',
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

const Mode = z.enum(['live', 'test']);

const ApiKeyRecord = z
  .object({
    id: Id,
    name: z.string(),
    prefix: z.string(),
    scopes: z.array(z.string()),
    mode: Mode,
    expiresAt: Instant.nullable(),
    revokedAt: Instant.nullable(),
    lastUsedAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('ApiKey', { example: EXAMPLE });

const CreatedApiKey = ApiKeyRecord.extend({ key: z.string() }).openapi('CreatedApiKey', {
  description: '`key` is shown this once; only its hash is kept.',
  example: { ...EXAMPLE, key: `${EXAMPLE.prefix}${'0'.repeat(58)}` },
});

const CreateApiKey = z
  .object({
    name: z.string().trim().min(1).max(100),
    scopes: z
      .array(z.string())
      .max(GRANTABLE_SCOPES.length)
      .openapi({ items: { type: 'string', enum: [...GRANTABLE_SCOPES] } }),
    expiresAt: InstantInput.nullish(),
    mode: Mode.default('live'),
  })
  .openapi('CreateApiKey', { example: { name: 'Web shop', scopes: ['email:send', 'contacts:edit'], mode: 'live' } });

const createKeyRoute = createRoute({
  method: 'post',
  path: '/apikeys',
  operationId: 'createApiKey',
  tags: ['API keys'],
  summary: 'Create a secret key',
  description: 'The plaintext key is in this answer only. Only grantable scopes that the creator holds may be given.',
  security: session('apikeys:manage'),
  request: { body: json(CreateApiKey) },
  responses: { 201: ok(CreatedApiKey, 'The key, with its plaintext') },
});

const listKeysRoute = createRoute({
  method: 'get',
  path: '/apikeys',
  operationId: 'listApiKeys',
  tags: ['API keys'],
  summary: 'List the secret keys',
  description: 'Every key of the project, revoked ones too, newest first. Never a plaintext or a hash.',
  security: session('apikeys:manage'),
  responses: { 200: ok(z.object({ data: z.array(ApiKeyRecord) })) },
});

const revokeKeyRoute = createRoute({
  method: 'post',
  path: '/apikeys/{id}/revoke',
  operationId: 'revokeApiKey',
  tags: ['API keys'],
  summary: 'Revoke a secret key',
  description: 'For good and at once. Revoking it again changes nothing and answers its first `revokedAt`.',
  security: session('apikeys:manage'),
  request: { params: IdParams },
  responses: { 200: ok(ApiKeyRecord) },
});

const rotatePublicRoute = createRoute({
  method: 'post',
  path: '/apikeys/public/rotate',
  operationId: 'rotatePublicKey',
  tags: ['API keys'],
  summary: 'Replace the public key',
  description: 'Answers the project with its new `public` key. The old one stops at once.',
  security: session('apikeys:manage'),
  responses: { 200: ok(Project) },
});

export function apiKeyRoutes(app: App, { db, keys }: Deps): void {
  app.openapi(createKeyRoute, async (c) => {
    const { name, scopes, expiresAt, mode } = c.req.valid('json');
    refuseUngrantable(scopes, c.var.scopes);
    refusePast(expiresAt);
    const { projectId } = c.var;
    const { key, hash, prefix } = newSecretKey(mode);
    const record = await inTransaction(db, async (trx) => {
      const created = await insertApiKey(trx, {
        projectId,
        name,
        hash,
        prefix,
        scopes: [...new Set(scopes)],
        mode,
        createdBy: personOf(c).id,
        expiresAt: expiresAt ?? null,
      });
      await insertAudit(trx, {
        ...{ projectId, action: 'apikey.created', actor: actorName(c.var.actor), target: created.id },
        ...{ ip: clientAddress(c), details: { name, scopes, mode, prefix } },
      });
      return created;
    });
    return c.json({ ...apiKeyAnswer(record), key }, 201);
  });

  app.openapi(listKeysRoute, async (c) => {
    const records = await listApiKeys(db, c.var.projectId);
    return c.json({ data: records.map(apiKeyAnswer) }, 200);
  });

  app.openapi(rotatePublicRoute, async (c) => {
    const { projectId } = c.var;
    const { key, hash, prefix } = newPublicKey();
    await inTransaction(db, async (trx) => {
      await updatePublicKey(trx, { projectId, key, hash });
      await insertAudit(trx, {
        ...{ projectId, action: 'apikey.rotated', actor: actorName(c.var.actor), target: null },
        ...{ ip: clientAddress(c), details: { prefix } },
      });
    });
    keys.forget();
    return c.json(projectAnswer(await getProject(db, projectId)), 200);
  });

  app.openapi(revokeKeyRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { projectId } = c.var;
    const record = await inTransaction(db, async (trx) => {
      const { key, changed } = await revokeApiKey(trx, { projectId, id });
      if (changed) {
        await insertAudit(trx, {
          ...{ projectId, action: 'apikey.revoked', actor: actorName(c.var.actor), target: id },
          ...{ ip: clientAddress(c), details: { name: key.name, prefix: key.prefix } },
        });
      }
      return key;
    });
    // This process before its answer; the others hear of it by NOTIFY as it commits.
    keys.forget();
    return c.json(apiKeyAnswer(record), 200);
  });
}

function refuseUngrantable(asked: string[], held: ReadonlySet<string>): void {
  const refused = new Set(ungrantable(asked, held));
  if (refused.size === 0) return;
  const errors = asked.flatMap((scope, i) =>
    refused.has(scope)
      ? [{ field: `scopes.${i}`, message: `${scope} cannot be granted by you to a key.`, code: 'invalid_enum_value' }]
      : [],
  );
  throw new AppError('VALIDATION_ERROR', { errors });
}

function refusePast(expiresAt: Date | null | undefined): void {
  if (!expiresAt || expiresAt.getTime() > Date.now()) return;
  throw new AppError('VALIDATION_ERROR', {
    errors: [{ field: 'expiresAt', message: 'Must be in the future.', code: 'too_small' }],
  });
}

function apiKeyAnswer(key: ApiKey) {
  return {
    ...key,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    // A key changes once, when it is revoked.
    updatedAt: (key.revokedAt ?? key.createdAt).toISOString(),
  };
}
