import { createHmac } from 'node:crypto';
import { createRoute } from '@hono/zod-openapi';
import type { KeyOwner } from '../../../rules/access/key-owner.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { publicContactId } from '../../../rules/contacts/public-contact-id.ts';
import { createTrackAcceptor } from '../../accept/track-acceptor.ts';
import { keyOwner } from '../../http/actor.ts';
import { PUBLIC_MAX_BYTES } from '../../http/body.ts';
import { clientNetwork } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdempotencyHeader, idempotencyKey } from '../../http/idempotency-key.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { json, ok } from '../../http/responses.ts';
import { publicKey } from '../../http/security.ts';
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
    "Creates the contact if it is new, starts the workflows that the event triggers, and ends steps that wait for it. Accepts the public key; its data is stored and shown as plain text only. The project's setting `publicKeyMode` decides what the public key may change, and `mode` in the response returns the setting. In `protected` mode, the public key adds at most 20 fields (4 KB) per contact, and never overwrites or removes the project's own. `subscribed: false` then applies to new contacts only, and `true` to contacts that never unsubscribed. Other changes are ignored, and the response is the same. In `open` mode, the rules of a secret key apply, but the public key can undo only unsubscribes that were made with the public key.",
  security: publicKey(),
  request: { headers: IdempotencyHeader, body: json(TrackEvent) },
  responses: { 200: ok(TrackedEvent) },
});

export function trackRoutes(app: App, { config, db, outbox, limits }: Deps): void {
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
          publicId: publicContactId(publicIdKey, { projectId, email }),
          caller: callerHash(callerKey, { projectId, address: clientNetwork(c) }),
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
      idempotencyKey: idempotencyKey(c),
      fingerprint: c.get('fingerprint'),
      owner: trackOwner(keyOwner(c), visitor?.publicId),
      visitor,
    });
    noteAffectedRows(c, { events: [response.data.event] });
    return c.json(response, 200);
  });
}

/** Returns a keyed hash of a caller's address for events, because the address is personal data. */
function callerHash(key: Buffer, { projectId, address }: { projectId: string; address: string }): string {
  return createHmac('sha256', key).update(`${projectId} ${address}`).digest('hex').slice(0, 12);
}

/**
 * Returns the owner of an idempotency key. All unauthenticated callers share the public key, so a repeated request
 * gets only a response about the same address.
 */
function trackOwner(owner: KeyOwner, publicId: string | undefined): KeyOwner {
  return publicId === undefined ? owner : { ...owner, name: `${owner.name} ${publicId}` };
}
