import { createSessionToken, hashToken } from '../../api/http/session-cookie.ts';
import { connect } from '../../db/connection.ts';
import { insertSignInLink } from '../../db/projects/sign-in-links.ts';
import { allowsSignInLinks, SIGN_IN_LINK_MINUTES } from '../../rules/access/sign-in-link.ts';
import type { Settings } from '../../rules/config.ts';
import type { FirstProjectFacts } from './first-project.ts';

/**
 * Returns a new link that opens the dashboard once, signed in as the owner of the first project. Returns undefined if
 * other machines may reach the service, or if the user in `owner` no longer owns that project.
 */
export async function createSignInLink(
  p: FirstProjectFacts & { settings: Settings; publicUrl: string; databaseUrl: string; baseUrl: string },
): Promise<string | undefined> {
  if (!allowsSignInLinks({ ...p.settings, publicUrl: p.publicUrl })) return undefined;
  const options = { connectionString: p.databaseUrl, max: 1, applicationName: 'tidings-start', onError: () => {} };
  const { db } = connect(options);
  try {
    const token = createSessionToken();
    const link = {
      projectId: p.projectId,
      email: p.owner.email,
      tokenHash: hashToken(token),
      minutes: SIGN_IN_LINK_MINUTES,
    };
    return (await insertSignInLink(db, link)) ? `${p.baseUrl}/auth/link/${token}` : undefined;
  } finally {
    await db.destroy();
  }
}
