import type { ResponseOf } from '../../api/client.ts';

type Team = ResponseOf<'getTeam'>;
export type Member = Team['members'][number];
export type Invitation = Team['invitations'][number];
export type Role = Member['role'];
export const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
/** Operations whose responses become stale when the team changes. */
export const TEAM_CHANGED = ['getTeam', 'listAuditLog'] as const;
