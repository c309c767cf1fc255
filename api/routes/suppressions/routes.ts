import { createRoute } from '@hono/zod-openapi';
import { addSuppressions, deleteSuppression, listSuppressions } from '../../../db/contacts/suppressions.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { unsubscribeAddresses } from '../../../engine/contacts/subscription-changes.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { normalizeEmail } from '../../../rules/emails/email-address.ts';
import { computeAddressHash } from '../../../rules/emails/suppression.ts';
import { formatActor } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery, EmailAddress } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { AddressParams, AddSuppression, LIST_DEFAULT } from './input.ts';
import { SuppressionRecord, toSuppressionResponse } from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/suppressions',
  operationId: 'listSuppressions',
  tags: ['Suppressions'],
  summary: 'List the suppression list',
  description:
    'Lists addresses that get no email, or no marketing email, newest first. `email` selects the entries of one address. Entries stay when contacts are erased.',
  security: allowScopes('contacts:view'),
  request: { query: cursorQuery(LIST_DEFAULT).extend({ email: EmailAddress.optional() }) },
  responses: { 200: jsonResponse(cursorList(SuppressionRecord)) },
});

const addRoute = createRoute({
  method: 'post',
  path: '/suppressions',
  operationId: 'addSuppression',
  tags: ['Suppressions'],
  summary: 'Add an address to the suppression list',
  description:
    'Adds an address. The reasons `hard_bounce` and `manual` stop all email. `complaint` and `unsubscribe` stop marketing email and unsubscribe the contact. If the address is already on the list with this reason, the existing entry stays.',
  security: allowScopes('contacts:edit'),
  request: { body: jsonBody(AddSuppression) },
  responses: { 201: jsonResponse(SuppressionRecord, 'Added') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/suppressions/{email}',
  operationId: 'deleteSuppression',
  tags: ['Suppressions'],
  summary: 'Remove an address from the suppression list',
  description: 'Removes all entries of the address. An unsubscribed contact stays unsubscribed.',
  security: allowScopes('contacts:edit'),
  request: { params: AddressParams },
  responses: { 204: emptyResponse('Removed'), ...errorResponses('NOT_FOUND') },
});

export function registerSuppressionRoutes(app: App, { db, reads, outbox, config }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  app.openapi(listRoute, async (c) => {
    const { email, ...paging } = c.req.valid('query');
    const hash = email === undefined ? undefined : computeAddressHash(key, email);
    const { items, ...page } = await listSuppressions(reads, { projectId: c.var.projectId, ...paging, hash });
    return c.json({ data: items.map(toSuppressionResponse), ...page }, 200);
  });

  app.openapi(addRoute, async (c) => {
    const { email, reason } = c.req.valid('json');
    const { projectId, mode, actor } = c.var;
    const by = formatActor(actor);
    const source = actor.kind === 'user' ? 'dashboard' : 'api';
    const { entry, outbox: queued } = await inTransaction(db, async (trx) => {
      const unsubscribes = reason === 'complaint' || reason === 'unsubscribe';
      // Locks the contact before the suppression, as all other transactions do, so that no deadlock occurs.
      const recorded = unsubscribes ? await unsubscribeAddresses(trx, { projectId, emails: [email], mode, by }) : [];
      const [added] = await addSuppressions(trx, key, { projectId, entries: [{ email, reason, source, actor: by }] });
      if (!added) throw new Error('the entry was not inserted');
      return { entry: added, outbox: recorded };
    });
    outbox.wake(queued);
    return c.json(toSuppressionResponse(entry), 201);
  });

  app.openapi(deleteRoute, async (c) => {
    const email = normalizeEmail(c.req.valid('param').email);
    await deleteSuppression(db, key, { projectId: c.var.projectId, email });
    return c.body(null, 204);
  });
}
