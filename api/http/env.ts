import type { HttpBindings } from '@hono/node-server';
import type { RouteConfig, RouteHandler } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AccessProject } from '../../db/projects/access.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { TrustedProxies } from '../../rules/access/caller-address.ts';
import type { Role } from '../../rules/access/scopes.ts';
import type { AffectedRows } from '../../rules/affected-rows.ts';
import type { ErrorCode } from '../../rules/errors.ts';

/** Caller of a request. `public` is the project's public key. */
export type Actor =
  | { kind: 'secret'; id: string }
  | { kind: 'public'; id: null }
  | { kind: 'user'; id: string; email: string; role: Role };

/**
 * State of a request, set by the middleware. `requestId` and `proxies` are always set. The fields from `projectId` to
 * `actor` are set only on routes that require credentials.
 */
export interface RequestVariables {
  requestId: string;
  /** Proxies whose forwarded address is trusted, see `readClientAddress`. */
  proxies: TrustedProxies;
  /** The documented route (`/contacts/{id}`), for logs and metrics. Undefined until a route matches. */
  route: string | undefined;
  projectId: string;
  project: AccessProject;
  /** `test` for a request with a test key. Requests with a session or the public key are `live`. */
  mode: KeyMode;
  scopes: ReadonlySet<string>;
  actor: Actor;
  /** The decoded files of a JSON body, in the order of the body. Set on routes with `filesAt`. */
  files: (Uint8Array | undefined)[];
  /** Hash of the parsed input. Set if the request has an Idempotency-Key and the operation accepts one. */
  fingerprint: string | undefined;
  /** Ids of the records that the request created or changed, for the request log. */
  affectedRows: AffectedRows | undefined;
  /** Code of the error response. */
  errorCode: ErrorCode | undefined;
}

export interface AppEnv {
  Bindings: HttpBindings;
  Variables: RequestVariables;
}

export type RequestContext = Context<AppEnv>;

/** The part of the registrar that the files with routes use: `app.openapi(route, handler)`. */
export interface App {
  openapi<Route extends RouteConfig>(route: Route, handler: RouteHandler<Route, AppEnv>): void;
}
