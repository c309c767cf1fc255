import { z } from '@hono/zod-openapi';
import { ROLES } from '../../../rules/access/scopes.ts';
import { EmailAddress, Id } from '../../http/schemas.ts';

const RoleInput = z.enum(ROLES).openapi({ description: 'Only an OWNER can give the role OWNER' });

export const Invite = z
  .object({ email: EmailAddress, role: RoleInput.default('MEMBER') })
  .openapi('InviteToTeam', { example: { email: 'grace@example.com', role: 'MEMBER' } });

export const ChangeRole = z.object({ role: RoleInput }).openapi('ChangeTeamRole', { example: { role: 'ADMIN' } });

export const MemberParams = z.object({ userId: Id });
