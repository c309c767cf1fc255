import { createRoute } from '@hono/zod-openapi';
import { getContact, listContacts, lookupContacts } from '../../../db/contacts/contacts.ts';
import { upsertContacts } from '../../../db/contacts/upsert.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { deleteContacts } from '../../../engine/contacts/delete-contacts.ts';
import { patchContact } from '../../../engine/contacts/patch-contact.ts';
import { recordSubscriptionChanges } from '../../../engine/contacts/subscription-changes.ts';
import { setContactTopics } from '../../../engine/contacts/topic-choices.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { AppError } from '../../../rules/errors.ts';
import { parseDataChanges } from '../../../rules/filters/data-values.ts';
import { markTrusted } from '../../../rules/provenance/provenance.ts';
import { formatActor } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorList, IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { CONSENT_ELSEWHERE, ListContacts, Lookup, PatchContact, SaveContact } from './input.ts';
import { ContactRecord, LookupResult, PatchedContact, SavedContact, toContactResponse } from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/contacts',
  operationId: 'listContacts',
  tags: ['Contacts'],
  summary: 'List contacts',
  description:
    'Lists contacts, newest first unless `sort` says otherwise. `search` is a case-insensitive part of the address or the name (`firstName`, `lastName`, `name` and similar keys). `condition` has the same form as the condition of a segment. If you send both, contacts must match both. `total` is counted on the first page only, and not with `count=false`.',
  security: allowScopes('contacts:view'),
  request: { query: ListContacts },
  responses: { 200: jsonResponse(cursorList(ContactRecord)), ...errorResponses('CONFLICT') },
});

const saveRoute = {
  ...createRoute({
    method: 'post',
    path: '/contacts',
    operationId: 'saveContact',
    tags: ['Contacts'],
    summary: 'Create or update a contact by address',
    description:
      'Finds a contact by its address, and creates or updates it. A new contact is subscribed unless `subscribed` is false. Without `subscribed`, the subscription of an existing contact does not change. `subscribed: true` removes an entry with the reason `unsubscribe` from the suppression list, unless the project protects it (see `resubscribe`).',
    security: allowScopes('contacts:edit'),
    request: { body: jsonBody(SaveContact) },
    responses: { 200: jsonResponse(SavedContact, 'Updated'), 201: jsonResponse(SavedContact, 'Created') },
  }),
  record: ContactRecord,
  setElsewhere: CONSENT_ELSEWHERE,
};

const getRoute = createRoute({
  method: 'get',
  path: '/contacts/{id}',
  operationId: 'getContact',
  tags: ['Contacts'],
  summary: 'Get a contact',
  description: 'Returns the contact with its data.',
  security: allowScopes('contacts:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(ContactRecord) },
});

const patchRoute = {
  ...createRoute({
    method: 'patch',
    path: '/contacts/{id}',
    operationId: 'updateContact',
    tags: ['Contacts'],
    summary: 'Update a contact',
    description:
      'Updates address, subscription and data. `data` is merged with the stored data. Returns 409 if another contact has the address.',
    security: allowScopes('contacts:edit'),
    request: { params: IdParams, body: jsonBody(PatchContact) },
    responses: { 200: jsonResponse(PatchedContact), ...errorResponses('CONFLICT') },
  }),
  record: ContactRecord,
  setElsewhere: CONSENT_ELSEWHERE,
};

const deleteRoute = createRoute({
  method: 'delete',
  path: '/contacts/{id}',
  operationId: 'deleteContact',
  tags: ['Contacts'],
  summary: 'Erase a contact',
  description:
    'Deletes the contact, cancels its executions, and removes its address from the history of emails, SMS and events. The suppressions of its address stay.',
  security: allowScopes('contacts:edit'),
  request: { params: IdParams },
  responses: { 204: emptyResponse('Erased') },
});

const lookupRoute = createRoute({
  method: 'post',
  path: '/contacts/lookup',
  operationId: 'lookupContacts',
  idempotency: 'none',
  tags: ['Contacts'],
  summary: 'Check which addresses are contacts',
  description: 'Returns which of up to 500 addresses belong to contacts. Upper and lower case make no difference.',
  security: allowScopes('contacts:view'),
  request: { body: jsonBody(Lookup) },
  responses: { 200: jsonResponse(LookupResult) },
});

export function registerContactRoutes(app: App, { db, reads, compute, outbox, config }: Deps): void {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  app.openapi(listRoute, async (c) => {
    const query = { projectId: c.var.projectId, ...c.req.valid('query') };
    const list = () => listContacts(reads, query);
    // A condition may read all contacts of the project and their events, so the request counts towards the project's
    // processor budget.
    const work = { projectId: query.projectId, kind: 'contacts.list' };
    const { items, ...page } = await (query.condition ? compute.runLargeRead(work, list) : list());
    return c.json({ data: items.map(toContactResponse), ...page }, 200);
  });

  app.openapi(saveRoute, async (c) => {
    const { email, subscribed, resubscribe, data, topics = {} } = c.req.valid('json');
    const { projectId, mode } = c.var;
    const changes = parseDataChanges(data);
    if (changes.errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors: changes.errors });
    const {
      contact,
      isNew,
      resubscribed,
      outbox: queued,
    } = await inTransaction(db, async (trx) => {
      const contacts = await upsertContacts(trx, {
        projectId,
        rows: [{ email, subscribed, resubscribe, set: changes.set, remove: changes.remove, by: 'project' }],
        defaultSubscribed: true,
        suppressionKey,
        causeId: null,
      });
      const by = formatActor(c.var.actor);
      const changed = { projectId, contacts, mode, untrustedTrigger: false, causeId: null, by };
      const recorded = await recordSubscriptionChanges(trx, changed);
      const [saved] = contacts;
      if (!saved) throw new Error('the upsert returned nothing');
      recorded.push(...(await setContactTopics(trx, { projectId, contactId: saved.id, topics, mode })));
      const { id, isNew: added, resubscribed: back } = saved;
      return { contact: await getContact(trx, { projectId, id }), isNew: added, resubscribed: back, outbox: recorded };
    });
    outbox.wake(queued);
    noteAffectedRows(c, { contacts: [contact.id] });
    return c.json(
      { ...toContactResponse(contact), _meta: { isNew, isUpdate: !isNew, ...(resubscribed && { resubscribed }) } },
      isNew ? 201 : 200,
    );
  });

  app.openapi(lookupRoute, async (c) => {
    const { emails } = c.req.valid('json');
    return c.json(await lookupContacts(reads, { projectId: c.var.projectId, emails }), 200);
  });

  app.openapi(getRoute, async (c) => {
    const contact = await getContact(db, { projectId: c.var.projectId, id: c.req.valid('param').id });
    return c.json(toContactResponse(contact), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const { email, subscribed, resubscribe, data, topics } = c.req.valid('json');
    const { projectId, mode } = c.var;
    const { id } = c.req.valid('param');
    const saved = await inTransaction(db, (trx) =>
      patchContact(trx, {
        projectId,
        id,
        email,
        subscribed,
        resubscribe,
        mode,
        topics,
        suppressionKey,
        data: data ? markTrusted(data) : undefined,
        untrustedTrigger: false,
        causeId: null,
        actor: formatActor(c.var.actor),
      }),
    );
    outbox.wake(saved.outbox);
    const { contact, resubscribed } = saved;
    return c.json({ ...toContactResponse(contact), ...(resubscribed && { _meta: { resubscribed } }) }, 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param');
    const deleted = await inTransaction(db, (trx) =>
      deleteContacts(trx, { projectId: c.var.projectId, ids: [id], suppressionKey }),
    );
    if (deleted.ids.length === 0)
      throw new AppError('NOT_FOUND', { message: 'No contact of this project has this id.' });
    outbox.wake(deleted.outbox);
    return c.body(null, 204);
  });
}
