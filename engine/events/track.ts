import type { Trx } from '../../db/connection.ts';
import { PUBLIC_ACTOR, type UpsertedContact, upsertContacts } from '../../db/contacts/upsert.ts';
import {
  insertIdempotencyKeys,
  type KeyedRequest,
  storeResponses,
  toIdempotencyMapKey,
} from '../../db/idempotency-batch.ts';
import { getPublicKeyMode, type PublicKeyMode } from '../../db/projects/projects.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { IdempotencyKeyOwner } from '../../rules/access/idempotency-key-owner.ts';
import type { Writer } from '../../rules/contacts/change.ts';
import { AppError } from '../../rules/errors.ts';
import { type Data, parseDataChanges, unwrapValues } from '../../rules/filters/data-values.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordSubscriptionChanges } from '../contacts/subscription-changes.ts';
import { recordEvents } from './record-events.ts';
import { recordUnsubscribeRequests, type UnsubscribeRequest } from './unsubscribe-requests.ts';

export interface TrackRequest {
  email: string;
  event: string;
  subscribed?: boolean | undefined;
  resubscribe?: boolean | undefined;
  data?: Data | undefined;
  idempotencyKey?: string | undefined;
  fingerprint?: string | undefined;
  /** The owner of the idempotency key. */
  owner: IdempotencyKeyOwner;
  /** Set for a request with the public key. */
  visitor?: Visitor | undefined;
}

/** The sender of a request with the public key, such as a web page that a person visits. */
export interface Visitor {
  /** The identifier that the response contains instead of the contact's id (see `computePublicContactId`). */
  publicId: string;
  /** A keyed hash of the caller's address, in hex. */
  caller: string;
}

export interface TrackRequests {
  projectId: string;
  /**
   * Whether the requests have the public key. The data of such requests appears only as plain text. The requests cannot
   * end an unsubscription or a suppression, unless the public key caused it in the mode `open`.
   */
  untrusted: boolean;
  mode: KeyMode;
  /** Each address and each idempotency key appears at most once. */
  requests: TrackRequest[];
  suppressionKey: Buffer;
}

/** The body of the response. */
export interface TrackResponse {
  success: true;
  data: {
    contact: string;
    event: string;
    timestamp: string;
    /** The rules for requests with the public key; absent for a secret key. */
    mode?: PublicKeyMode;
  };
}

/** The result of one request: its response, or the reason why it had no effect. */
export type TrackOutcome = { outcome: 'tracked'; response: TrackResponse } | { outcome: 'refused'; error: AppError };

/**
 * Records events of contacts, creates missing contacts and stores the contacts' new data. Handles all requests together
 * in the caller's transaction. If this function throws, the caller runs the requests one by one. Source: contract §8.1
 * Tracking.
 * @returns outcomes in the order of the requests, and the rows to pass to `outbox.wake` after the commit
 * @throws AppError VALIDATION_ERROR for data that exceeds a limit
 */
export async function trackEvents(
  trx: Trx,
  p: TrackRequests,
): Promise<{ outcomes: TrackOutcome[]; outbox: OutboxRow[] }> {
  const refused = await insertIdempotencyKeys(trx, p.requests.flatMap(toKeyedRequests(p.projectId)));
  const findKeyConflict = ({ idempotencyKey: key, owner }: TrackRequest) =>
    key === undefined ? undefined : refused.get(toIdempotencyMapKey({ projectId: p.projectId, owner, key }));
  const requests = p.requests.filter((request) => !findKeyConflict(request));
  const { responses, outbox } = await recordRequests(trx, { ...p, requests });
  const toStore = requests.flatMap((request) => {
    const response = responses.get(request);
    return toKeyedRequests(p.projectId)(request).map((key) => ({ ...key, statusCode: 200, response }));
  });
  await storeResponses(trx, toStore);
  const outcomes = p.requests.map((request) => toOutcome(findKeyConflict(request), responses.get(request)));
  return { outcomes, outbox };
}

async function recordRequests(
  trx: Trx,
  p: TrackRequests,
): Promise<{ responses: Map<TrackRequest, TrackResponse>; outbox: OutboxRow[] }> {
  const { projectId, untrusted, mode, requests } = p;
  const keyMode = untrusted ? await getPublicKeyMode(trx, projectId) : undefined;
  const contacts = await saveContacts(trx, p, keyMode);
  const withActors = contacts.map((contact, index) => ({
    ...contact,
    by: untrusted ? PUBLIC_ACTOR : requests[index]?.owner.name,
  }));
  const changed = { projectId, contacts: withActors, untrustedTrigger: untrusted, mode, causeId: null };
  const changes = await recordSubscriptionChanges(trx, changed);
  const recorded = await recordEvents(trx, {
    projectId,
    events: requests.map((request, index) => ({
      contactId: contacts[index]?.id ?? null,
      name: request.event,
      data: unwrapValues(request.data ?? {}),
      untrusted,
      untrustedTrigger: untrusted,
      causeId: null,
      mode,
    })),
  });
  const refused = keyMode === 'protected' ? listRefusedRequests(requests, contacts) : [];
  const noted = await recordUnsubscribeRequests(trx, { projectId, mode, requests: refused });
  const timestamp = new Date().toISOString();
  const responses = new Map<TrackRequest, TrackResponse>();
  for (const [index, request] of requests.entries()) {
    const contact = contacts[index] && (request.visitor?.publicId ?? contacts[index].id);
    const event = recorded.events[index]?.id;
    if (!contact || !event) throw new Error('a tracked event is missing from its own result');
    responses.set(request, { success: true, data: { contact, event, timestamp, ...(keyMode && { mode: keyMode }) } });
  }
  return { responses, outbox: [...changes, ...recorded.outbox, ...noted] };
}

/**
 * Lists the requests that asked to unsubscribe a contact but had no effect, because in the mode `protected` a public
 * key may not unsubscribe.
 */
function listRefusedRequests(requests: TrackRequest[], contacts: UpsertedContact[]): UnsubscribeRequest[] {
  return requests.flatMap(({ subscribed, visitor }, index) => {
    const contact = contacts[index];
    const isRefused = visitor !== undefined && subscribed === false && contact?.subscribed === true;
    return isRefused ? [{ contactId: contact.id, caller: visitor.caller }] : [];
  });
}

const WRITERS = { protected: 'unauthenticated', open: 'visitor' } as const satisfies Record<PublicKeyMode, Writer>;

function saveContacts(trx: Trx, p: TrackRequests, keyMode: PublicKeyMode | undefined): Promise<UpsertedContact[]> {
  const by: Writer = keyMode === undefined ? 'project' : WRITERS[keyMode];
  const rows = p.requests.map(({ email, subscribed, resubscribe, data }) => {
    const { set, remove, errors } = parseDataChanges(data, keyMode === 'protected' ? 'drop' : 'refuse');
    if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
    return { email, subscribed, resubscribe, set, remove, by };
  });
  return upsertContacts(trx, {
    projectId: p.projectId,
    rows,
    // Callers of this operation are usually applications with their own users, so a new contact is subscribed unless
    // the caller says otherwise.
    defaultSubscribed: true,
    suppressionKey: p.suppressionKey,
    causeId: null,
  });
}

const toKeyedRequests =
  (projectId: string) =>
  ({ idempotencyKey: key, owner, fingerprint }: TrackRequest): KeyedRequest[] =>
    key === undefined ? [] : [{ projectId, key, owner, request: 'POST /v1/track', fingerprint }];

function toOutcome(error: AppError | undefined, response: TrackResponse | undefined): TrackOutcome {
  if (response) return { outcome: 'tracked', response };
  return { outcome: 'refused', error: error ?? new AppError('INTERNAL_SERVER_ERROR') };
}
