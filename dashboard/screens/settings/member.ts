import type { ResponseOf } from '../../api/client.ts';

type Team = ResponseOf<'getTeam'>;
export type Member = Team['members'][number];
export type Invitation = Team['invitations'][number];
export type Role = Member['role'];
export const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
/** Queries that a change of the team makes stale. */
export const TEAM_CHANGED = ['getTeam', 'listAuditLog'] as const;
