import { useSuspenseQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../api/client.ts';
import { queryFor } from '../api/queries.ts';

export type Me = ResponseOf<'getMe'>;
export type Permission = Me['permissions'][number];

/** The signed-in user; the shell has read it already. */
export interface Session {
  userId: string;
  email: string;
  role: Me['role'];
  projectId: string;
  projectName: string;
  projects: Me['projects'];
  hold: Me['hold'];
  /** They operate the service: `OPERATORS` names them. */
  operator: boolean;
  /** Whether the role may do it. The API has the last word: this only says beforehand why something is disabled. */
  can(permission: Permission): boolean;
}

/** The session of the user at the screen. Use it only below the shell, which signs in visitors without a session. */
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
