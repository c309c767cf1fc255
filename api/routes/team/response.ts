import { z } from '@hono/zod-openapi';
import type { Invitation } from '../../../db/projects/invitations.ts';
import type { TeamMember } from '../../../db/projects/team.ts';
import { ROLES } from '../../../rules/access/scopes.ts';
import { EXAMPLE_ID, Id, Instant, TruncatedLists } from '../../http/schemas.ts';

const MEMBER_EXAMPLE = {
  userId: EXAMPLE_ID,
  email: 'ada@example.com',
  role: 'OWNER' as const,
  createdAt: '2026-01-01T12:00:00.000Z',
};

export const INVITATION_EXAMPLE = {
  id: EXAMPLE_ID,
  email: 'grace@example.com',
  role: 'MEMBER' as const,
  invitedBy: 'ada@example.com',
  createdAt: '2026-01-01T12:00:00.000Z',
  expiresAt: '2026-01-08T12:00:00.000Z',
};

export const MemberRecord = z
  .object({
    userId: Id,
    email: z.string(),
    role: z.enum(ROLES),
    createdAt: Instant.openapi({ description: 'When the member joined' }),
  })
  .openapi('TeamMember', { example: MEMBER_EXAMPLE });

export const InvitationRecord = z
  .object({
    id: Id,
    email: z.string(),
    role: z.enum(ROLES),
    invitedBy: z.string().openapi({ description: 'Address of the user who sent the invitation' }),
    createdAt: Instant,
    expiresAt: Instant,
  })
  .openapi('TeamInvitation', { example: INVITATION_EXAMPLE });

export const Team = z
  .object({ members: z.array(MemberRecord), invitations: z.array(InvitationRecord), truncated: TruncatedLists })
  .openapi('Team', { example: { members: [MEMBER_EXAMPLE], invitations: [INVITATION_EXAMPLE] } });

export const Invited = InvitationRecord.extend({
  url: z.string().openapi({ description: 'Link to give to the invited person. Returned only once.' }),
  mailed: z.boolean().openapi({
    description: 'Whether the invitation was also emailed, which requires a verified domain of the project',
  }),
}).openapi('InvitedToTeam', {
  example: { ...INVITATION_EXAMPLE, url: 'https://tidings.example.com/app/join#token', mailed: false },
});

export function toMemberResponse({ createdAt, ...member }: TeamMember) {
  return { ...member, createdAt: createdAt.toISOString() };
}

export function toInvitationResponse({ id, email, role, invitedBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
