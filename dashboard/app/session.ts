import { useSuspenseQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../api/client.ts';
import { queryFor } from '../api/queries.ts';

export type Me = ResponseOf<'getMe'>;
export type Permission = Me['permissions'][number];

/** The signed-in user. The shell has loaded it before any screen renders. */
export interface Session {
  userId: string;
  email: string;
  role: Me['role'];
  projectId: string;
  projectName: string;
  projects: Me['projects'];
  hold: Me['hold'];
  /** True for an operator of the service. The variable `OPERATORS` lists the addresses of all operators. */
  operator: boolean;
  /**
   * Tells whether the user's role has the permission. The dashboard uses the result to disable or hide controls, and to
   * skip requests that would fail. The API enforces permissions.
   */
  can(permission: Permission): boolean;
}

/**
 * Returns the session of the user. Use it only below the shell, which sends visitors without a session to the sign-in
 * page.
 */
export function useSession(): Session {
  const { data: me } = useSuspenseQuery({ ...queryFor('getMe'), staleTime: 30_000 });
  const { user, role, projectId, projects, permissions, hold, operator } = me;
  return {
    userId: user.id,
    email: user.email,
    role,
    projectId,
    projectName: projects.find(({ id }) => id === projectId)?.name ?? '',
    projects,
    hold,
    operator,
    can: (permission) => permissions.includes(permission),
  };
}
