import { createHmac } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { isOperator } from '../../../db/operator/operators.ts';
import { findPasswordHash, listMemberships } from '../../../db/projects/accounts.ts';
import { getProject } from '../../../db/projects/projects.ts';
import { insertSession } from '../../../db/projects/sessions.ts';
import { getRoleScopes, ROLES, SCOPES } from '../../../rules/access/scopes.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { AppError } from '../../../rules/errors.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';
import {
  createSessionToken,
  hashToken,
  readSessionToken,
  SESSION_DAYS,
  setSessionCookie,
} from '../../http/session-cookie.ts';
import { Hold, toProjectResponse } from '../project/response.ts';
import { setDeviceCookie } from './device-cookie.ts';
import { hashPasswordFor } from './passwords.ts';

/** Salt size of argon2, in bytes. */
const SALT_BYTES = 16;
export const Me = z
  .object({
    user: z.object({ id: Id, email: z.string() }),
    projects: z.array(z.object({ id: Id, name: z.string(), role: z.enum(ROLES) })),
    projectId: Id,
    role: z.enum(ROLES),
    permissions: z.array(z.enum(SCOPES)),
    hold: Hold,
    operator: z
      .boolean()
      .openapi({ description: 'Whether the user is an operator of the service, listed in `OPERATORS`' }),
  })
  .openapi('Me', {
    example: {
      user: { id: EXAMPLE_ID, email: 'ada@example.com' },
      projects: [{ id: EXAMPLE_ID, name: 'Web shop', role: 'MEMBER' }],
      projectId: EXAMPLE_ID,
      role: 'MEMBER',
      permissions: ['contacts:view', 'contacts:edit'],
      hold: { held: false, since: null, reason: null },
      operator: false,
    },
  });

/**
 * Starts a session of a user in a project, and sets the session cookie and the cookie that marks the browser as a known
 * device. The caller must have checked the password.
 * @param p.passwordHash the hash that the password was checked against
 * @throws AppError UNAUTHORIZED if the password has changed since
 */
export async function startSession(
  c: RequestContext,
  deps: Deps,
  p: { userId: string; projectId: string; email: string; passwordHash: string },
): Promise<void> {
  const token = createSessionToken();
  const isStored = await insertSession(deps.db, { tokenHash: hashToken(token), ...p, days: SESSION_DAYS });
  if (!isStored) throw createWrongPasswordError();
  setSignInCookies(c, deps, { ...p, token });
}

/** Sets the cookies for a stored session and for the known device. */
export function setSignInCookies(
  c: RequestContext,
  { config }: Pick<Deps, 'config'>,
  p: { token: string; userId: string; email: string },
): void {
  setSessionCookie(c, p.token, config.publicUrl);
  setDeviceCookie(c, { ...p, key: deriveKey(config.secretKey, 'accounts'), publicUrl: config.publicUrl });
  c.header('Cache-Control', 'no-store');
}

/**
 * Returns a user and their current project, as in `GET /auth/me`.
 * @throws AppError UNAUTHORIZED for a user who is not a member of the project
 */
export async function buildMeResponse(
  { db, config: { operators } }: Deps,
  p: { userId: string; projectId: string; email: string },
): Promise<z.infer<typeof Me>> {
  const [projects, project, operator] = await Promise.all([
    listMemberships(db, p.userId),
    getProject(db, p.projectId),
    isOperator(db, { ...p, operators }),
  ]);
  const role = projects.find(({ id }) => id === p.projectId)?.role;
  if (!role) throw new AppError('UNAUTHORIZED');
  return {
    user: { id: p.userId, email: p.email },
    projects,
    projectId: p.projectId,
    role,
    permissions: [...getRoleScopes(role)],
    hold: toProjectResponse(project).hold,
    operator,
  };
}

/**
 * Returns the session token of a request, on routes that require a session.
 * @throws AppError UNAUTHORIZED
 */
export function requireSessionToken(c: RequestContext, { config }: Deps): string {
  const token = readSessionToken(c, config.publicUrl);
  if (!token) throw new AppError('UNAUTHORIZED');
  return token;
}

/**
 * Returns the hash of a password for an address. It equals the stored hash of the account with this address and
 * password, if there is one (`hashPasswordFor`), so the account is found by this hash.
 */
export async function computePasswordHash({ db, config }: Deps, email: string, password: string): Promise<string> {
  const like = await findPasswordHash(db, email);
  const salt = () => deriveSalt(deriveKey(config.secretKey, 'accounts'), email);
  return hashPasswordFor(like === undefined ? { salt: salt() } : { like }, password);
}

/**
 * Returns the salt for the first account of an address. Two concurrent sign-ups with the same address get the same
 * salt, so that the same password cannot create two accounts.
 */
function deriveSalt(key: Buffer, email: string): Uint8Array {
  return createHmac('sha256', key).update(`salt ${email}`).digest().subarray(0, SALT_BYTES);
}

/**
 * Returns the same error for an unknown address and for a wrong password, so that it does not reveal which accounts
 * exist.
 */
export function createWrongPasswordError(): AppError {
  return new AppError('UNAUTHORIZED', {
    message: 'The address or the password is wrong.',
    suggestion: 'Check both. After too many failures you have to wait before you can try again.',
  });
}
