import { createRoute, z } from '@hono/zod-openapi';
import { listSegmentContacts, refreshMemberCount } from '../../../db/segments/contacts.ts';
import { addMembers, removeMembers } from '../../../db/segments/members.ts';
import {
  deleteSegment,
  getSegment,
  insertSegment,
  listSegments,
  type Segment,
  updateSegment,
} from '../../../db/segments/segments.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { computeSegment } from '../../../engine/segments/compute.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { formatActor } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams, NameSearch, wholeNumber } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { createStoredFields } from '../../http/stored-fields.ts';
import { toListedContactResponse } from '../contacts/response.ts';
import {
  AddMembers,
  CreateSegment,
  PAGE_DEFAULT,
  PAGE_MAX,
  PatchSegment,
  RemoveMembers,
  readRequestedCondition,
} from './input.ts';
import {
  AddedMembers,
  Computed,
  EXAMPLE,
  ListedSegment,
  Refreshed,
  RemovedMembers,
  SegmentContacts,
  SegmentRecord,
  toListedResponse,
  toSegmentResponse,
} from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/segments',
  operationId: 'listSegments',
  tags: ['Segments'],
  summary: 'List the segments',
  description:
    'Lists all segments, newest first, with their stored counts. The response is at most 4 MB. When it would become larger, the remaining segments are returned without condition and description, and have `truncated`.',
  security: allowScopes('segments:view'),
  request: { query: z.object({ search: NameSearch }) },
  responses: { 200: jsonResponse(z.array(ListedSegment).openapi({ example: [EXAMPLE] })) },
});

const createSegmentRoute = createRoute({
  method: 'post',
  path: '/segments',
  operationId: 'createSegment',
  tags: ['Segments'],
  summary: 'Create a segment',
  description:
    'Creates a segment. A DYNAMIC segment (the default) needs a condition in `filters` or its alias `condition`. A STATIC segment must not have a condition. Returns 409 if the slug is taken, or if the project has 500 segments.',
  security: allowScopes('segments:edit'),
  request: { body: jsonBody(CreateSegment) },
  responses: { 201: versionedResponse(SegmentRecord, 'Created'), ...errorResponses('CONFLICT') },
});

const getRoute = createRoute({
  method: 'get',
  path: '/segments/{id}',
  operationId: 'getSegment',
  tags: ['Segments'],
  summary: 'Get a segment',
  description: 'Returns the segment with its stored count.',
  security: allowScopes('segments:view'),
  request: { params: IdParams },
  responses: { 200: versionedResponse(SegmentRecord) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/segments/{id}',
  operationId: 'updateSegment',
  tags: ['Segments'],
  summary: 'Update a segment',
  description:
    'Updates the fields of the request. A new name also changes the slug, and with it the names of the entry and exit events, unless the request has a `slug`. Returns 409 if the slug is taken.',
  security: allowScopes('segments:edit'),
  stored: createStoredFields(({ db }, ref) => getSegment(db, ref).then(toSegmentResponse)),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(PatchSegment) },
  responses: { 200: versionedResponse(SegmentRecord), ...errorResponses('CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/segments/{id}',
  operationId: 'deleteSegment',
  tags: ['Segments'],
  summary: 'Delete a segment',
  description: 'Returns 409 while a SCHEDULED, SENDING or PAUSED campaign uses the segment.',
  security: allowScopes('segments:edit'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 204: emptyResponse('Deleted'), ...errorResponses('CONFLICT') },
});

const contactsRoute = createRoute({
  method: 'get',
  path: '/segments/{id}/contacts',
  operationId: 'listSegmentContacts',
  tags: ['Segments'],
  summary: 'List the contacts of a segment',
  description:
    'Lists the contacts, newest first. A DYNAMIC segment is evaluated at this moment. The total of a very large segment can be up to a minute old. A page is at most 4 MB. When it would become larger, the remaining contacts are returned without `data` and have `truncated`.',
  security: allowScopes('segments:view'),
  request: {
    params: IdParams,
    query: z.object({
      page: wholeNumber({ min: 1, max: 1_000_000, default: 1, description: 'Page number, from 1' }),
      pageSize: wholeNumber({ min: 1, max: PAGE_MAX, default: PAGE_DEFAULT, description: 'Contacts per page' }),
    }),
  },
  responses: { 200: jsonResponse(SegmentContacts) },
});

const addMembersRoute = createRoute({
  method: 'post',
  path: '/segments/{id}/members',
  operationId: 'addSegmentMembers',
  tags: ['Segments'],
  summary: 'Add members to a static segment',
  description:
    'Adds up to 500 contacts by address. With `createMissing`, contacts that do not exist are created, subscribed unless `subscribed` is false. Without it, their addresses are listed in `notFound`. Returns 409 for a DYNAMIC segment.',
  security: allowScopes('segments:edit'),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(AddMembers) },
  responses: {
    200: jsonResponse(AddedMembers),
    ...errorResponses('CONFLICT'),
  },
});

const removeMembersRoute = createRoute({
  method: 'delete',
  path: '/segments/{id}/members',
  operationId: 'removeSegmentMembers',
  tags: ['Segments'],
  summary: 'Remove members from a static segment',
  description:
    'Removes up to 500 contacts by address. Contacts that are not members are ignored. Returns 409 for a DYNAMIC segment.',
  security: allowScopes('segments:edit'),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(RemoveMembers) },
  responses: { 200: jsonResponse(RemovedMembers), ...errorResponses('CONFLICT') },
});

const computeRoute = createRoute({
  method: 'post',
  path: '/segments/{id}/compute',
  operationId: 'computeSegment',
  tags: ['Segments'],
  summary: 'Update the members of a tracked segment',
  description:
    'For a segment with `trackMembership`. Updates the stored members, and records the event `segment.<slug>.entry` or `segment.<slug>.exit` once for each contact that has entered or left. The service also does this every 5 minutes. Returns 400 if the segment is not tracked.',
  security: allowScopes('segments:edit'),
  request: { params: IdParams },
  responses: {
    200: jsonResponse(Computed),
    ...errorResponses('BAD_REQUEST'),
  },
});

const refreshRoute = createRoute({
  method: 'post',
  path: '/segments/{id}/refresh',
  operationId: 'refreshSegment',
  tags: ['Segments'],
  summary: 'Recount a segment',
  description:
    'Counts the contacts and updates `memberCount`. Stored members do not change, and no events are recorded.',
  security: allowScopes('segments:edit'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(Refreshed) },
});

export function registerSegmentRoutes(app: App, { db, reads, outbox, config }: Deps): void {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  app.openapi(listRoute, async (c) => {
    const { projectId } = c.var;
    return c.json((await listSegments(reads, { projectId, ...c.req.valid('query') })).map(toListedResponse), 200);
  });

  app.openapi(createSegmentRoute, async (c) => {
    const { filters, condition, description, ...body } = c.req.valid('json');
    const segment = {
      ...body,
      projectId: c.var.projectId,
      condition: readRequestedCondition({ filters, condition }) ?? null,
      description: description ?? null,
    };
    const created = await inTransaction(db, (trx) => insertSegment(trx, segment));
    setETag(c, created);
    return c.json(toSegmentResponse(await recountMembers(reads, created)), 201);
  });

  app.openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param');
    const segment = await getSegment(db, { projectId: c.var.projectId, id });
    setETag(c, segment);
    return c.json(toSegmentResponse(segment), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const { filters, condition: alias, ...patch } = c.req.valid('json');
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const stored = filters && alias ? (await getSegment(db, ref)).condition : undefined;
    const condition = readRequestedCondition({ filters, condition: alias }, stored);
    const read = readVersion(c, patch);
    const updated = await inTransaction(db, (trx) =>
      updateSegment(trx, { ...ref, patch: { ...patch, condition }, read }),
    );
    setETag(c, updated);
    return c.json(toSegmentResponse(condition ? await recountMembers(reads, updated) : updated), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    await inTransaction(db, (trx) => deleteSegment(trx, { ...ref, read }));
    return c.body(null, 204);
  });

  app.openapi(contactsRoute, async (c) => {
    const segment = await getSegment(db, { projectId: c.var.projectId, id: c.req.valid('param').id });
    const { page, pageSize } = c.req.valid('query');
    const { items, total } = await listSegmentContacts(reads, segment, { page, pageSize });
    const contacts = items.map(toListedContactResponse);
    return c.json({ contacts, data: contacts, page, pageSize, total, totalPages: Math.ceil(total / pageSize) }, 200);
  });

  app.openapi(addMembersRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { subscribed, ...members } = c.req.valid('json');
    if (subscribed !== undefined && !members.createMissing)
      c.header('X-Ignored-Fields', 'subscribed', { append: true });
    const change = {
      ...ref,
      ...members,
      subscribed: subscribed ?? true,
      suppressionKey,
      actor: formatActor(c.var.actor),
      read: readVersion(c),
    };
    return c.json(await inTransaction(db, (trx) => addMembers(trx, change)), 200);
  });

  app.openapi(removeMembersRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { emails } = c.req.valid('json');
    const change = { ...ref, emails, actor: formatActor(c.var.actor), read: readVersion(c) };
    return c.json(await inTransaction(db, (trx) => removeMembers(trx, change)), 200);
  });

  app.openapi(computeRoute, async (c) => {
    const options = { projectId: c.var.projectId, segmentId: c.req.valid('param').id };
    return c.json(await computeSegment(reads, { ...options, onPage: (queued) => outbox.wake(queued) }), 200);
  });

  app.openapi(refreshRoute, async (c) => {
    const segment = await getSegment(db, { projectId: c.var.projectId, id: c.req.valid('param').id });
    return c.json({ memberCount: await refreshMemberCount(reads, segment) }, 200);
  });
}

/**
 * Counts the contacts of a segment, stores the count, and returns the segment with its new count. If counting fails,
 * returns the segment with its old count, because the segment itself is already stored.
 */
async function recountMembers(reads: Deps['reads'], segment: Segment): Promise<Segment> {
  try {
    return { ...segment, memberCount: await refreshMemberCount(reads, segment) };
  } catch {
    return segment;
  }
}
