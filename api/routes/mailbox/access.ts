import { listMemberships } from '../../../db/projects/accounts.ts';
import { AppError } from '../../../rules/errors.ts';
import { authenticate } from '../../http/authenticate.ts';
import type { Deps } from '../../http/deps.ts';
import { isDirectRequest } from '../../http/direct-request.ts';
import type { RequestContext } from '../../http/env.ts';
import { type AccessRule, allowSession, toAccessRule } from '../../http/security.ts';

const BY_SESSION = toAccessRule(allowSession()) as AccessRule;

/**
 * Returns the projects whose captured messages a request may read. Undefined means all projects: the HOST is a loopback
 * address, and the request comes directly from this machine. Any other request may read only the projects that the
 * session's user owns. Requests through a proxy on this machine count as remote, see `isDirectRequest`.
 * @throws AppError UNAUTHORIZED without a session, FORBIDDEN for a user who owns no project
 */
export async function listReadableProjects(c: RequestContext, deps: Deps): Promise<string[] | undefined> {
  if (!deps.config.publicHost && isDirectRequest(c)) return undefined;
  await authenticate(c, BY_SESSION, deps).catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'UNAUTHORIZED') throw error;
    throw new AppError('UNAUTHORIZED', {
      message: 'Only the session of an OWNER can open the mailbox, because other machines can reach this service.',
      suggestion: 'Sign in as an OWNER with POST /auth/login, which a browser can do at /docs.',
    });
  });
  const actor = c.get('actor');
  const memberships = actor.kind === 'user' ? await listMemberships(deps.db, actor.id) : [];
  const owned = memberships.filter(({ role }) => role === 'OWNER').map(({ id }) => id);
  if (owned.length > 0) return owned;
  throw new AppError('FORBIDDEN', {
    message: 'Only an OWNER can open the mailbox.',
    suggestion: 'Ask an OWNER of the project to check the mailbox, or to give you the role OWNER.',
  });
}
