import { createRoute, z } from '@hono/zod-openapi';
import {
  createSignupClosedError,
  findUser,
  getPasswordHash,
  hasNoUser,
  insertAccount,
  listMemberships,
  updatePassword,
} from '../../../db/projects/accounts.ts';
import { deleteSession, updateSessionProject } from '../../../db/projects/sessions.ts';
import { generatePublicKey } from '../../../rules/access/api-keys.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { AppError, createFieldError } from '../../../rules/errors.ts';
import { requireUser } from '../../http/actor.ts';
import { readClientAddress, readClientNetwork } from '../../http/client-address.ts';
import { refuseForeignWrite } from '../../http/csrf.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowAnyone, allowSession } from '../../http/security.ts';
import { createSessionToken, deleteSessionCookie, hashToken, setSessionCookie } from '../../http/session-cookie.ts';
import { readKnownDevice } from './device-cookie.ts';
import { ChangePassword, Login, Signup, SwitchProject } from './input.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { hashPasswordFor, passwordMatches } from './passwords.ts';
import {
  buildMeResponse,
  computePasswordHash,
  createWrongPasswordError,
  Me,
  requireSessionToken,
  startSession,
} from './sign-in.ts';

const tags = ['Accounts'];

const signupRoute = createRoute({
  method: 'post',
  path: '/auth/signup',
  operationId: 'signUp',
  tags,
  summary: 'Sign up',
  description:
    'Creates an account with a first project, and sets the session cookie. The variable `SIGNUP` of the service decides who may sign up: everyone, only the first user, or no one (403). The response does not reveal whether this address has other accounts. Several accounts may have the same address, each with its own password. A request with the address and password of an existing account signs in to that account. At most 20 sign-ups per hour from one IP address, or 50 per minute from the machine of the service (429).',
  security: allowAnyone(),
  request: { body: jsonBody(Signup) },
  responses: {
    201: jsonResponse(Me, 'The account was created and signed in'),
    ...errorResponses('FORBIDDEN', 'RATE_LIMIT_EXCEEDED'),
  },
});

const signupStateRoute = createRoute({
  method: 'get',
  path: '/auth/signup',
  operationId: 'getSignUp',
  tags,
  summary: 'Check whether sign-up is open',
  description: 'Returns whether `SIGNUP` of the service allows new accounts. A sign-in page can use this.',
  security: allowAnyone(),
  responses: { 200: jsonResponse(z.object({ open: z.boolean() }).openapi('SignUpState', { example: { open: true } })) },
});

const loginRoute = createRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'logIn',
  tags,
  summary: 'Sign in',
  description:
    'Sets the session cookie. In 15 minutes, an IP address may fail 10 times at one account and 50 times in all (429). A browser that was signed in to the account before has a separate limit of 10. The response does not reveal whether the account exists.',
  security: allowAnyone(),
  request: { body: jsonBody(Login) },
  responses: {
    200: jsonResponse(Me, 'Signed in'),
    ...errorResponses('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'),
  },
});

const logoutRoute = createRoute({
  method: 'post',
  path: '/auth/logout',
  operationId: 'logOut',
  tags,
  summary: 'Sign out',
  description: 'Ends this session.',
  security: allowSession(),
  responses: { 204: emptyResponse('Signed out') },
});

const meRoute = createRoute({
  method: 'get',
  path: '/auth/me',
  operationId: 'getMe',
  tags,
  summary: 'Get the signed-in user',
  description: 'Returns the user, the projects of the user, and the current project with role, permissions and hold.',
  security: allowSession(),
  responses: { 200: jsonResponse(Me) },
});

const switchRoute = createRoute({
  method: 'post',
  path: '/auth/project',
  operationId: 'switchProject',
  tags,
  summary: "Switch the session's project",
  description: 'Later requests of this session use the project with the id `projectId`.',
  security: allowSession(),
  request: { body: jsonBody(SwitchProject) },
  responses: { 200: jsonResponse(Me), ...errorResponses('NOT_FOUND') },
});

const passwordRoute = createRoute({
  method: 'post',
  path: '/auth/password',
  operationId: 'changePassword',
  tags,
  summary: 'Change your password',
  description: 'Sets a new session cookie, and ends all other sessions of the user.',
  security: allowSession(),
  request: { body: jsonBody(ChangePassword) },
  responses: { 204: emptyResponse('Changed') },
});

export function registerAuthRoutes(app: App, deps: Deps): void {
  const { db, config, limits } = deps;
  const { publicUrl } = config;
  const accountKey = deriveKey(config.secretKey, 'accounts');
  const throttle = createLoginThrottle({ db, key: deriveKey(config.secretKey, 'rate-limit') });

  /**
   * Returns the user with an address and a password, and the password hash.
   * @throws AppError UNAUTHORIZED, RATE_LIMIT_EXCEEDED
   */
  async function checkPassword(c: RequestContext, { email, password }: z.infer<typeof Login>) {
    const network = readClientNetwork(c);
    const device = readKnownDevice(c, { email, key: accountKey, publicUrl });
    // For a known device, failures of other callers do not count. If the password does not belong to the account that
    // the device cookie names, the attempt also counts as an attempt of an unknown device.
    const asDevice = device && (await throttle.takeForDevice(device));
    let asUnknownDevice = device ? undefined : await throttle.takeForUnknownDevice(email, network);
    const passwordHash = await computePasswordHash(deps, email, password);
    const userId = await findUser(db, { email, passwordHash });
    if (device && userId !== device.userId) asUnknownDevice = await throttle.takeForUnknownDevice(email, network);
    if (!userId) throw createWrongPasswordError();
    await Promise.all([asDevice?.forgive(), asUnknownDevice?.forgive()]);
    return { userId, passwordHash };
  }

  app.openapi(signupRoute, async (c) => {
    refuseForeignWrite(c, publicUrl);
    if (config.signup === 'off') throw createSignupClosedError();
    const { email, password, projectName } = c.req.valid('json');
    await limits.takeForSignUp(readClientAddress(c));
    const attempt = await throttle.takeForSignUp(email, readClientNetwork(c));
    const passwordHash = await computePasswordHash(deps, email, password);
    const account = await insertAccount(
      db,
      { email, passwordHash, projectName, publicKey: generatePublicKey() },
      config.signup === 'first',
    );
    // Only a sign-up that signs in to an existing account is removed from the count. If a sign-up creates an account,
    // the attempt still counts. Otherwise the number of allowed attempts would reveal whether the address has an
    // account.
    if (account.known) await attempt.forgive();
    await startSession(c, deps, { ...account, email, passwordHash });
    return c.json(await buildMeResponse(deps, { ...account, email }), 201);
  });

  app.openapi(signupStateRoute, async (c) => {
    const isOpen = config.signup === 'on' || (config.signup === 'first' && (await hasNoUser(db)));
    return c.json({ open: isOpen }, 200);
  });

  app.openapi(loginRoute, async (c) => {
    refuseForeignWrite(c, publicUrl);
    const { email, password } = c.req.valid('json');
    const { userId, passwordHash } = await checkPassword(c, { email, password });
    const [project] = await listMemberships(db, userId);
    if (!project) throw new AppError('FORBIDDEN', { message: 'This account belongs to no project.' });
    await startSession(c, deps, { userId, projectId: project.id, email, passwordHash });
    return c.json(await buildMeResponse(deps, { userId, projectId: project.id, email }), 200);
  });

  app.openapi(logoutRoute, async (c) => {
    await deleteSession(db, hashToken(requireSessionToken(c, deps)));
    deleteSessionCookie(c, publicUrl);
    return c.body(null, 204);
  });

  app.openapi(meRoute, async (c) => {
    const { id, email } = requireUser(c);
    return c.json(await buildMeResponse(deps, { userId: id, projectId: c.var.projectId, email }), 200);
  });

  app.openapi(switchRoute, async (c) => {
    const { id, email } = requireUser(c);
    const { projectId } = c.req.valid('json');
    await updateSessionProject(db, { tokenHash: hashToken(requireSessionToken(c, deps)), userId: id, projectId });
    return c.json(await buildMeResponse(deps, { userId: id, projectId, email }), 200);
  });

  app.openapi(passwordRoute, async (c) => {
    const { id } = requireUser(c);
    const { currentPassword, newPassword } = c.req.valid('json');
    const attempt = await throttle.takeForUser(id);
    const checkedHash = await getPasswordHash(db, id);
    if (!(await passwordMatches(currentPassword, checkedHash))) throw createWrongCurrentPasswordError();
    const token = createSessionToken();
    const change = {
      userId: id,
      checkedHash,
      passwordHash: await hashPasswordFor({ like: checkedHash }, newPassword),
      oldToken: hashToken(requireSessionToken(c, deps)),
      newToken: hashToken(token),
    };
    const result = await updatePassword(db, change);
    if (result === 'taken') throw createFieldError('newPassword', 'This password is not allowed. Choose another one.');
    if (result === 'stale') throw createWrongCurrentPasswordError();
    await attempt.forgive();
    setSessionCookie(c, token, publicUrl);
    return c.body(null, 204);
  });
}

function createWrongCurrentPasswordError(): AppError {
  return createFieldError('currentPassword', 'This is not the current password.');
}
