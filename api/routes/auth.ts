import { createHmac } from 'node:crypto';
import { createRoute, z } from '@hono/zod-openapi';
import {
  findUserByEmail,
  getPasswordHash,
  insertAccount,
  listMemberships,
  signupClosed,
  updatePassword,
} from '../../db/accounts.ts';
import { forgiveAttempt, takeAttempt } from '../../db/login-attempts.ts';
import { getProject } from '../../db/projects.ts';
import { deleteSession, insertSession, updateSessionProject } from '../../db/sessions.ts';
import { newPublicKey } from '../../domain/api-keys.ts';
import { AppError, fieldError } from '../../domain/errors.ts';
import { ROLES, roleScopes, SCOPES } from '../../domain/scopes.ts';
import { deriveKey } from '../../domain/secrets.ts';
import { personOf } from '../actor.ts';
import { errors, json, noContent, ok } from '../answers.ts';
import { clientNetwork } from '../client-address.ts';
import { refuseForeignWrite } from '../csrf.ts';
import type { Deps } from '../deps.ts';
import type { App, RequestContext } from '../env.ts';
import { hashPassword, passwordMatches } from '../passwords.ts';
import { Hold, projectAnswer } from '../project-answer.ts';
import { EmailAddress, Id } from '../schemas.ts';
import { open, session } from '../security.ts';
import {
  dropSessionCookie,
  givenSessionToken,
  giveSessionCookie,
  hashToken,
  newSessionToken,
  SESSION_DAYS,
} from '../session-cookie.ts';

/** Failed attempts in 15 minutes. Source: decisions §11. */
const FAILURES_PER_ACCOUNT = 10;
const FAILURES_PER_ADDRESS = 50;
/** Longer is a mistake or an attack on the hash function. */
const PASSWORD_MAX_CHARS = 200;
const EXAMPLE_ID = '0190a000-0000-7000-8000-000000000000';

const NewPassword = z.string().min(8).max(PASSWORD_MAX_CHARS);
const GivenPassword = z.string().min(1).max(PASSWORD_MAX_CHARS);

const Me = z
  .object({
    user: z.object({ id: Id, email: z.string() }),
    projects: z.array(z.object({ id: Id, name: z.string(), role: z.enum(ROLES) })),
    projectId: Id,
    role: z.enum(ROLES),
    permissions: z.array(z.enum(SCOPES)),
    hold: Hold,
  })
  .openapi('Me', {
    example: {
      user: { id: EXAMPLE_ID, email: 'ada@example.com' },
      projects: [{ id: EXAMPLE_ID, name: 'Web shop', role: 'MEMBER' }],
      projectId: EXAMPLE_ID,
      role: 'MEMBER',
      permissions: ['contacts:view', 'contacts:edit'],
      hold: { held: false, since: null, reason: null },
    },
  });

const Signup = z
  .object({ email: EmailAddress, password: NewPassword, projectName: z.string().trim().min(1).max(100) })
  .openapi('Signup', { example: { email: 'ada@example.com', password: 'correct horse', projectName: 'Web shop' } });

const Login = z
  .object({ email: EmailAddress, password: GivenPassword })
  .openapi('Login', { example: { email: 'ada@example.com', password: 'correct horse' } });

const SwitchProject = z.object({ projectId: Id }).openapi('SwitchProject', { example: { projectId: EXAMPLE_ID } });

const ChangePassword = z
  .object({ currentPassword: GivenPassword, newPassword: NewPassword })
  .openapi('ChangePassword', { example: { currentPassword: 'correct horse', newPassword: 'battery staple' } });

const tags = ['Accounts'];

const signupRoute = createRoute({
  method: 'post',
  path: '/auth/signup',
  operationId: 'signUp',
  tags,
  summary: 'Make an account with a first project',
  description:
    'Signs in by cookie. `SIGNUP` of the deployment decides who may: everyone, only the first, nobody (403).',
  security: open(),
  request: { body: json(Signup) },
  responses: { 201: ok(Me, 'The account, signed in'), ...errors('FORBIDDEN', 'CONFLICT') },
});

const loginRoute = createRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'logIn',
  tags,
  summary: 'Sign in',
  description:
    'Sets the session cookie. Failures are limited to 10 in 15 minutes for an account and 50 for an address (429). ' +
    'The answer does not tell whether the account exists.',
  security: open(),
  request: { body: json(Login) },
  responses: { 200: ok(Me, 'Signed in'), ...errors('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED') },
});

const logoutRoute = createRoute({
  method: 'post',
  path: '/auth/logout',
  operationId: 'logOut',
  tags,
  summary: 'Sign out',
  description: 'Ends this session.',
  security: session(),
  responses: { 204: noContent('Signed out') },
});

const meRoute = createRoute({
  method: 'get',
  path: '/auth/me',
  operationId: 'getMe',
  tags,
  summary: 'Who is signed in',
  description: 'The person, their projects, and the current project with role, permissions and hold.',
  security: session(),
  responses: { 200: ok(Me) },
});

const switchRoute = createRoute({
  method: 'post',
  path: '/auth/project',
  operationId: 'switchProject',
  tags,
  summary: "Switch the session's project",
  description: 'Later requests of this session belong to that project.',
  security: session(),
  request: { body: json(SwitchProject) },
  responses: { 200: ok(Me), ...errors('NOT_FOUND') },
});

const passwordRoute = createRoute({
  method: 'post',
  path: '/auth/password',
  operationId: 'changePassword',
  tags,
  summary: 'Change the own password',
  description: 'Gives this session a new token, by a new cookie, and ends every other session of this person.',
  security: session(),
  request: { body: json(ChangePassword) },
  responses: { 204: noContent('Changed') },
});

export function authRoutes(app: App, deps: Deps): void {
  const { db, config } = deps;
  const subjects = attemptSubjects(deriveKey(config.secretKey, 'rate-limit'));

  app.openapi(signupRoute, async (c) => {
    refuseForeignWrite(c, config.publicUrl);
    if (config.signup === 'off') throw signupClosed();
    const { email, password, projectName } = c.req.valid('json');
    const passwordHash = await hashPassword(password);
    const account = await insertAccount(
      db,
      { email, passwordHash, projectName, publicKey: newPublicKey() },
      config.signup === 'first',
    );
    await signIn(c, deps, { ...account, passwordHash });
    return c.json(await describeMe(deps, { ...account, email }), 201);
  });

  app.openapi(loginRoute, async (c) => {
    refuseForeignWrite(c, config.publicUrl);
    const { email, password } = c.req.valid('json');
    const [account, address] = [subjects.account(email), subjects.address(clientNetwork(c))];
    await takeAttempt(db, [
      { subject: account, limit: FAILURES_PER_ACCOUNT },
      { subject: address, limit: FAILURES_PER_ADDRESS },
    ]);
    const user = await findUserByEmail(db, email);
    if (!(await passwordMatches(password, user?.passwordHash)) || !user) throw wrongPassword();
    await forgiveAttempt(db, { account, address });
    const [project] = await listMemberships(db, user.id);
    if (!project) throw new AppError('FORBIDDEN', { message: 'This account belongs to no project.' });
    await signIn(c, deps, { userId: user.id, projectId: project.id, passwordHash: user.passwordHash });
    return c.json(await describeMe(deps, { userId: user.id, projectId: project.id, email }), 200);
  });

  app.openapi(logoutRoute, async (c) => {
    await deleteSession(db, hashToken(sessionToken(c, config)));
    dropSessionCookie(c, config.publicUrl);
    return c.body(null, 204);
  });

  app.openapi(meRoute, async (c) => {
    const { id, email } = personOf(c);
    return c.json(await describeMe(deps, { userId: id, projectId: c.var.projectId, email }), 200);
  });

  app.openapi(switchRoute, async (c) => {
    const { id, email } = personOf(c);
    const { projectId } = c.req.valid('json');
    await updateSessionProject(db, { tokenHash: hashToken(sessionToken(c, config)), userId: id, projectId });
    return c.json(await describeMe(deps, { userId: id, projectId, email }), 200);
  });

  app.openapi(passwordRoute, async (c) => {
    const { id, email } = personOf(c);
    const { currentPassword, newPassword } = c.req.valid('json');
    const [account, address] = [subjects.account(email), subjects.address(clientNetwork(c))];
    await takeAttempt(db, [
      { subject: account, limit: FAILURES_PER_ACCOUNT },
      { subject: address, limit: FAILURES_PER_ADDRESS },
    ]);
    const checkedHash = await getPasswordHash(db, id);
    if (!(await passwordMatches(currentPassword, checkedHash))) throw notCurrent();
    await forgiveAttempt(db, { account, address });
    const token = newSessionToken();
    const [oldToken, newToken] = [hashToken(sessionToken(c, config)), hashToken(token)];
    const passwordHash = await hashPassword(newPassword);
    if (!(await updatePassword(db, { userId: id, checkedHash, passwordHash, oldToken, newToken }))) throw notCurrent();
    giveSessionCookie(c, token, config.publicUrl);
    return c.body(null, 204);
  });
}

/** @param p.passwordHash what the password was checked against. @throws AppError UNAUTHORIZED where it has changed since */
async function signIn(
  c: RequestContext,
  deps: Deps,
  p: { userId: string; projectId: string; passwordHash: string },
): Promise<void> {
  const token = newSessionToken();
  const kept = await insertSession(deps.db, { tokenHash: hashToken(token), ...p, days: SESSION_DAYS });
  if (!kept) throw wrongPassword();
  giveSessionCookie(c, token, deps.config.publicUrl);
  c.header('Cache-Control', 'no-store');
}

async function describeMe({ db }: Deps, p: { userId: string; projectId: string; email: string }) {
  const [projects, project] = await Promise.all([listMemberships(db, p.userId), getProject(db, p.projectId)]);
  const role = projects.find(({ id }) => id === p.projectId)?.role;
  if (!role) throw new AppError('UNAUTHORIZED');
  return {
    user: { id: p.userId, email: p.email },
    projects,
    projectId: p.projectId,
    role,
    permissions: [...roleScopes(role)],
    hold: projectAnswer(project).hold,
  };
}

function sessionToken(c: RequestContext, { publicUrl }: Deps['config']): string {
  const token = givenSessionToken(c, publicUrl);
  if (!token) throw new AppError('UNAUTHORIZED');
  return token;
}

/** Accounts and callers as the throttle knows them: keyed hashes, so that the table is no list of who tried. */
function attemptSubjects(key: Buffer) {
  const hidden = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return {
    account: (email: string) => hidden(`login account ${email}`),
    address: (address: string) => hidden(`login address ${address}`),
  };
}

function notCurrent(): AppError {
  return fieldError('currentPassword', 'This is not the current password.');
}

function wrongPassword(): AppError {
  return new AppError('UNAUTHORIZED', {
    message: 'The address or the password is wrong.',
    suggestion: 'Check both, and mind that too many failures make you wait.',
  });
}
