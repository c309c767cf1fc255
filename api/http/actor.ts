import type { IdempotencyKeyOwner } from '../../rules/access/idempotency-key-owner.ts';
import { AppError } from '../../rules/errors.ts';
import type { Actor, RequestContext } from './env.ts';

/**
 * Returns the user who sent a request, on routes that require a session.
 * @throws AppError UNAUTHORIZED if the caller is not a user
 */
export function requireUser(c: RequestContext): Extract<Actor, { kind: 'user' }> {
  const { actor } = c.var;
  if (actor.kind !== 'user') throw new AppError('UNAUTHORIZED');
  return actor;
}

/** Returns the actor in the form of the audit log: `user:<id>`, `key:<id>` or `public`. */
export function formatActor(actor: Actor): string {
  if (actor.kind === 'user') return `user:${actor.id}`;
  return actor.kind === 'secret' ? `key:${actor.id}` : 'public';
}

/** Returns the caller and its scopes, as the owner of the request's idempotency key. */
export function readIdempotencyKeyOwner(c: RequestContext): IdempotencyKeyOwner {
  const actor = c.get('actor');
  return { name: formatActor(actor), public: actor.kind === 'public', scopes: c.get('scopes') };
}
