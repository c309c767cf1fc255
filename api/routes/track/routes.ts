import { createRoute } from '@hono/zod-openapi';
import type { KeyOwner } from '../../../rules/access/key-owner.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { publicContactId } from '../../../rules/contacts/public-contact-id.ts';
import { createTrackAcceptor } from '../../accept/track-acceptor.ts';
import { keyOwner } from '../../http/actor.ts';
import { json, ok } from '../../http/answers.ts';
import { PUBLIC_MAX_BYTES } from '../../http/body.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdempotencyHeader, idempotencyKey } from '../../http/idempotency-key.ts';
import { noteMade } from '../../http/request-log.ts';
import { publicKey } from '../../http/security.ts';
import { TrackedEvent } from './answer.ts';
import { TrackEvent } from './input.ts';

const trackRoute = createRoute({
  maxBodyBytes: PUBLIC_MAX_BYTES,
  method: 'post',
  path: '/v1/track',
  operationId: 'trackEvent',
  anyQuery: true,
  tags: ['Track'],
  summary: 'Record an event of a contact',
  description:
    'Creates the contact if it is new, starts the workflows that the event triggers and satisfies those that wait for it. ' +
    'Takes the public key, whose data is stored and shown as plain text only: at most 20 fields (4 KB) a contact, beside those of the project, ' +
    'none of which it overwrites or removes. By it, `subscribed: false` counts for new contacts only, and `true` for those too who were never ' +
    'unsubscribed. What does not count is left out, and the answer is the same.',
  security: publicKey(),
  request: { headers: IdempotencyHeader, body: json(TrackEvent) },
  responses: { 200: ok(TrackedEvent) },
});

export function trackRoutes(app: App, { config, db, outbox, limits }: Deps): void {
  const publicIdKey = deriveKey(config.secretKey, 'public-ids');
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
    const publicId = untrusted ? publicContactId(publicIdKey, { projectId, email }) : undefined;
    const answer = await acceptor.accept({
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
      owner: trackOwner(keyOwner(c), publicId),
      publicId,
    });
    noteMade(c, { events: [answer.data.event] });
    return c.json(answer, 200);
  });
}

/** All strangers share the public key: each is told again only what was answered about the same address. */
function trackOwner(owner: KeyOwner, publicId: string | undefined): KeyOwner {
  return publicId === undefined ? owner : { ...owner, name: `${owner.name} ${publicId}` };
}
