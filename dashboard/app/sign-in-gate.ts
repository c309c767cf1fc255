import type { QueryClient } from '@tanstack/react-query';
import { redirect } from '@tanstack/react-router';
import { ApiFailure, getShownProject, setShownProject } from '../api/client.ts';
import { queryFor } from '../api/queries.ts';

/**
 * Redirects visitors without a session to the sign-in page, which returns to `href` afterwards.
 * @throws the redirect; ApiFailure if the service does not respond
 */
export async function requireSession(queries: QueryClient, href: string): Promise<void> {
  try {
    const { projectId } = await queries.ensureQueryData({ ...queryFor('getMe'), staleTime: 30_000 });
    // The first screen loads its data before the shell is mounted. Later, the shell decides which project is shown.
    if (getShownProject() === undefined) setShownProject(projectId);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) {
      throw redirect({ to: '/sign-in', search: href === '/' ? {} : { back: href } });
    }
    throw error;
  }
}
