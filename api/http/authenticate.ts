import { findSessionAccess } from '../../db/projects/access.ts';
import { getRoleScopes, type Scope } from '../../rules/access/scopes.ts';
import { AppError } from '../../rules/errors.ts';
import { readClientNetwork } from './client-address.ts';
import { refuseForeignWrite } from './csrf.ts';
import type { Deps } from './deps.ts';
import type { RequestContext } from './env.ts';
import { type RateState, toRateLimitHeaders } from './rate-limits.ts';
import type { AccessRule } from './security.ts';
import { hashToken, readSessionToken } from './session-cookie.ts';

/** An access rule. If the operation requires a session, `insteadOfKey` tells callers with a key what to use instead. */
type RouteAccess = AccessRule & { insteadOfKey?: string | undefined };

/**
 * Decides whether a request may continue, and sets its caller in `c.var`. Checks the credentials, the rate limits, the
 * project that a request with a session names, and the scopes, in this order. For a write in a project (`ofProject`),
 * then checks that the project is not disabled. For a write with a session, also checks the origin. The check of the
 * credentials queries the database only for a session, or for a key that is not in the cache.
 * @throws AppError UNAUTHORIZED, INVALID_API_KEY, RATE_LIMIT_EXCEEDED, CONFLICT, FORBIDDEN, PROJECT_DISABLED
 */
export async function authenticate(c: RequestContext, rule: RouteAccess, deps: Deps): Promise<void> {
  const requiredScopes = await identifyCaller(c, rule, deps);
  const state = await takeFromRateLimits(c, deps);
  for (const [name, value] of Object.entries(state ? toRateLimitHeaders(state) : {})) c.header(name, value);
  if (c.get('actor').kind === 'user') refuseOtherProject(c);
  assertScopes(c, requiredScopes);
  if (isRead(c.req.method)) return;
  if (rule.ofProject) assertEnabled(c);
  if (c.get('actor').kind === 'user') refuseForeignWrite(c, deps.config.publicUrl);
}

/**
 * Refuses a request with a session that names another project than the session's current one. All windows of a browser
 * share the session, so a window may show a project that another window has left. Source: contract §2.6 Sessions.
 * @throws AppError CONFLICT
 */
function refuseOtherProject(c: RequestContext): void {
  const wanted = c.req.header('tidings-project');
  const current = c.get('projectId');
  if (wanted === undefined || wanted.toLowerCase() === current) return;
  throw new AppError('CONFLICT', {
    message: 'The session is in another project than the header Tidings-Project names, so nothing was done.',
    suggestion: 'Read the current project with GET /auth/me, or switch to the other one with POST /auth/project.',
    details: { sessionProjectId: current },
  });
}

/**
 * Checks the rights of a caller who changes the project. Used by operations in which some changes need these rights,
 * and other changes, such as leaving the project, need only valid credentials.
 * @throws AppError FORBIDDEN, PROJECT_DISABLED
 */
export function assertMayChange(c: RequestContext, ...neededScopes: Scope[]): void {
  assertScopes(c, neededScopes);
  assertEnabled(c);
}

function assertScopes(c: RequestContext, neededScopes: readonly string[]): void {
  const missingScope = neededScopes.find((scope) => !c.get('scopes').has(scope));
  if (missingScope) throw new AppError('FORBIDDEN', { details: { requiredScope: missingScope } });
}

function assertEnabled(c: RequestContext): void {
  if (c.get('project').disabled) throw new AppError('PROJECT_DISABLED');
}

/**
 * Returns the id of the project to which the credentials of a request belong, for operations that require no
 * credentials. Undefined without valid credentials.
 */
export async function findProjectId(c: RequestContext, deps: Deps): Promise<string | undefined> {
  const header = c.req.header('authorization');
  if (header) return (await deps.keys.find(header.replace(/^Bearer +/i, '').trim()))?.project.id;
  const token = readSessionToken(c, deps.config.publicUrl);
  return token ? (await findSessionAccess(deps.db, hashToken(token)))?.project.id : undefined;
}

/**
 * Sets the caller in `c.var` from the credentials, and returns the scopes that the operation requires for this kind of
 * credentials.
 */
async function identifyCaller(c: RequestContext, rule: RouteAccess, deps: Deps): Promise<readonly string[]> {
  const header = c.req.header('authorization');
  if (header) return identifyKeyCaller(c, rule, deps, parseBearerToken(header));
  const token = rule.session && readSessionToken(c, deps.config.publicUrl);
  if (!token || !rule.session) throw new AppError('UNAUTHORIZED');
  const access = await findSessionAccess(deps.db, hashToken(token));
  if (!access) throw new AppError('UNAUTHORIZED', { message: 'The session has ended. Sign in again.' });
  c.set('actor', { kind: 'user', id: access.userId, email: access.email, role: access.role });
  c.set('scopes', getRoleScopes(access.role));
  c.set('mode', 'live');
  c.set('project', access.project);
  c.set('projectId', access.project.id);
  return rule.session;
}

async function identifyKeyCaller(
  c: RequestContext,
  rule: RouteAccess,
  deps: Deps,
  key: string,
): Promise<readonly string[]> {
  if (!rule.secretKey && !rule.publicKey) {
    throw new AppError('INVALID_API_KEY', {
      message: 'This operation requires the session of a user and does not accept API keys.',
      suggestion: `${rule.insteadOfKey ?? 'Do this in the dashboard'}, or sign in with POST /auth/login and send the cookie that it sets.`,
    });
  }
  const access = await deps.keys.find(key);
  if (!access) throw new AppError('INVALID_API_KEY');
  const requiredScopes = access.kind === 'public' ? rule.publicKey && [] : rule.secretKey;
  if (!requiredScopes)
    throw new AppError('INVALID_API_KEY', { message: 'This endpoint does not accept the public key.' });
  c.set('actor', access.keyId ? { kind: 'secret', id: access.keyId } : { kind: 'public', id: null });
  c.set('scopes', access.scopes);
  c.set('mode', access.mode);
  c.set('project', access.project);
  c.set('projectId', access.project.id);
  return requiredScopes;
}

function parseBearerToken(header: string): string {
  const [, token] = /^Bearer(?: +(.*))?$/i.exec(header.trim()) ?? [undefined, header];
  if (!token?.trim()) throw new AppError('UNAUTHORIZED');
  return token.trim();
}

/**
 * Counts a request towards its rate limits, and returns the state of one limit for the response's headers. Normally
 * this is the limit of the project or of the public key. Anyone can read the public key from a web page, so requests
 * with the public key have a separate limit. They also count towards a limit per IP address. The limit per address is
 * checked first, so that one caller cannot use up the limit of the public key. If the public key has no limit, the
 * function returns the state of the limit per address.
 */
async function takeFromRateLimits(c: RequestContext, deps: Deps): Promise<RateState | undefined> {
  // Uses `c.get`, here and on every other path that all requests take, because `c.var` creates an object of all
  // variables each time.
  const [projectId, actor] = [c.get('projectId'), c.get('actor')];
  if (actor.kind !== 'public') return deps.limits.takeForProject(projectId);
  const stateOfAddress = await deps.limits.takeForPublicAddress(projectId, readClientNetwork(c));
  return (await deps.limits.takeForPublicKey(projectId)) ?? stateOfAddress;
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
