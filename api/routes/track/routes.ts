import { createHmac } from 'node:crypto';
import { createRoute } from '@hono/zod-openapi';
import type { IdempotencyKeyOwner } from '../../../rules/access/idempotency-key-owner.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { computePublicContactId } from '../../../rules/contacts/public-contact-id.ts';
import { createTrackAcceptor } from '../../accept/track-acceptor.ts';
import { readIdempotencyKeyOwner } from '../../http/actor.ts';
import { PUBLIC_MAX_BYTES } from '../../http/body.ts';
import { readClientNetwork } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdempotencyHeader, readIdempotencyKey } from '../../http/idempotency-key.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowPublicKey } from '../../http/security.ts';
import { TrackEvent } from './input.ts';
import { TrackedEvent } from './response.ts';

const trackRoute = createRoute({
  maxBodyBytes: PUBLIC_MAX_BYTES,
  method: 'post',
  path: '/v1/track',
  operationId: 'trackEvent',
  anyQuery: true,
  tags: ['Track'],
  summary: 'Record an event of a contact',
  description:
    "Records an event of the contact with this address, and creates the contact if it is new. The event starts the workflows with this event name, and ends waits for it. The operation also accepts the public key. Data that is sent with the public key is shown only as plain text. The project's setting `publicKeyMode` decides what the public key may change, and `mode` in the response returns this setting. In `protected` mode, the public key can add at most 20 fields (4 KB) per contact, and cannot overwrite or remove fields that the project wrote. `subscribed: false` then applies only to new contacts, and `subscribed: true` only to contacts that never unsubscribed. Other changes are ignored, and the response does not show this. In `open` mode, the rules of a secret key apply, except that the public key can subscribe a contact again only if it was unsubscribed with the public key.",
  security: allowPublicKey(),
  request: { headers: IdempotencyHeader, body: jsonBody(TrackEvent) },
  responses: { 200: jsonResponse(TrackedEvent) },
});

export function registerTrackRoutes(app: App, { config, db, outbox, limits }: Deps): void {
  const publicIdKey = deriveKey(config.secretKey, 'public-ids');
  const callerKey = deriveKey(config.secretKey, 'public-callers');
  const acceptor = createTrackAcceptor({
    db,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
    outbox,
  });
  app.openapi(trackRoute, async (c) => {
    const { email, event, subscribed, resubscribe, data } = c.req.valid('json');
    const { projectId, mode } = c.var;
    const untrusted = c.var.actor.kind === 'public';
    if (untrusted) await limits.takeForPublicContact(projectId, email);
    const visitor = untrusted
      ? {
          publicId: computePublicContactId(publicIdKey, { projectId, email }),
          caller: hashCaller(callerKey, { projectId, address: readClientNetwork(c) }),
        }
      : undefined;
    const response = await acceptor.accept({
      projectId,
      untrusted,
      mode,
      email,
      event,
      subscribed,
      resubscribe,
      data: data ?? undefined,
      idempotencyKey: readIdempotencyKey(c),
      fingerprint: c.get('fingerprint'),
      owner: toTrackOwner(readIdempotencyKeyOwner(c), visitor?.publicId),
      visitor,
    });
    noteAffectedRows(c, { events: [response.data.event] });
    return c.json(response, 200);
  });
}

/** Returns a keyed hash of a caller's address for events, because the address is personal data. */
function hashCaller(key: Buffer, { projectId, address }: { projectId: string; address: string }): string {
  return createHmac('sha256', key).update(`${projectId} ${address}`).digest('hex').slice(0, 12);
}

/**
 * Returns the owner of a request's idempotency key. All visitors of a site use the same public key, so the contact's
 * public id is added. A repeated request therefore gets the stored response only for the same contact.
 */
function toTrackOwner(owner: IdempotencyKeyOwner, publicId: string | undefined): IdempotencyKeyOwner {
  return publicId === undefined ? owner : { ...owner, name: `${owner.name} ${publicId}` };
}
