import {
  createSessionToken,
  hashToken,
  isHttps,
  SECURE_SESSION_COOKIE,
  SESSION_COOKIE,
} from '../../api/http/session-cookie.ts';
import type { Db } from '../../db/connection.ts';
import { insertSession } from '../../db/projects/sessions.ts';
import type { Role } from '../../rules/access/scopes.ts';
import type { Config } from '../../rules/config.ts';
import type { TestProject } from './api.ts';

/**
 * Creates a user with a role in a project, and signs the user in. Returns the headers for the user's requests, which
 * are sent with `key: null`.
 */
export async function signIn(
  api: { db: Db; deps: { config: Pick<Config, 'publicUrl'> } },
  project: TestProject,
  role: Role = 'OWNER',
): Promise<Record<string, string>> {
  const token = createSessionToken();
  const user = await api.db
    .insertInto('users')
    .values({ email: `${token.slice(0, 12).toLowerCase()}@people.test`, password_hash: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await api.db.insertInto('memberships').values({ project_id: project.id, user_id: user.id, role }).execute();
  await insertSession(api.db, {
    tokenHash: hashToken(token),
    userId: user.id,
    projectId: project.id,
    days: 1,
    passwordHash: 'none',
  });
  const { publicUrl } = api.deps.config;
  return { cookie: `${isHttps(publicUrl) ? SECURE_SESSION_COOKIE : SESSION_COOKIE}=${token}` };
}
