import { z } from '@hono/zod-openapi';
import { EmailAddress, EXAMPLE_ID, Id } from '../../http/schemas.ts';

/** A longer password is probably a mistake, or an attempt to make hashing expensive. */
const PASSWORD_MAX_CHARS = 200;

export const NewPassword = z.string().min(8).max(PASSWORD_MAX_CHARS);

const EnteredPassword = z.string().min(1).max(PASSWORD_MAX_CHARS);

export const Signup = z
  .object({ email: EmailAddress, password: NewPassword, projectName: z.string().trim().min(1).max(100) })
  .openapi('Signup', { example: { email: 'ada@example.com', password: 'correct horse', projectName: 'Web shop' } });

export const Login = z
  .object({ email: EmailAddress, password: EnteredPassword })
  .openapi('Login', { example: { email: 'ada@example.com', password: 'correct horse' } });

export const SwitchProject = z
  .object({ projectId: Id })
  .openapi('SwitchProject', { example: { projectId: EXAMPLE_ID } });

export const ChangePassword = z
  .object({ currentPassword: EnteredPassword, newPassword: NewPassword })
  .openapi('ChangePassword', { example: { currentPassword: 'correct horse', newPassword: 'battery staple' } });
