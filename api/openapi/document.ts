import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AppEnv } from '../http/env.ts';
import { SESSION_COOKIE } from '../http/session-cookie.ts';
import { moveExamplesToProperties } from './examples.ts';
import type { Document } from './json.ts';
import { repairReferences } from './references.ts';
import { shareParts } from './shared.ts';
import { simplifyEnums } from './simplify-enums.ts';
import { listTags } from './tags.ts';
import { removeUnusedSchemas, removeUnversionedPaths } from './versioned.ts';

/** The paths of a document: all paths, or only the paths under `/v1`, whose compatibility is guaranteed. */
export type DocumentPaths = 'all' | 'v1';

/**
 * Returns the OpenAPI document of all registered operations. Its version is the version of the contract, 1.0.0
 * (contract §1.3 Paths).
 */
export function createOpenApiDocument(hono: OpenAPIHono<AppEnv>, which: DocumentPaths = 'all') {
  const generated = hono.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Tidings',
      version: '1.0.0',
      description:
        'Email, SMS and event messaging. Paths under `/v1` are versioned; new clients should use them. Ids are UUIDv7.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/', description: 'This service' }],
  });
  // Works on a copy, because the routes share parts of the generated document, and the functions below change it in
  // place.
  const document = structuredClone(generated);
  repairReferences(document as Document);
  // Runs before paths are removed, so that both documents use the same names.
  simplifyEnums(document as Document);
  if (which === 'v1') removeUnversionedPaths(document as Document);
  moveExamplesToProperties(document as Document);
  shareParts(document as Document);
  removeUnusedSchemas(document as Document);
  return {
    ...document,
    tags: listTags(document.paths ?? {}),
    components: { ...document.components, securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES = {
  secretKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A secret key, `sk_live_…` or `sk_test_…`. Each operation lists the scopes that the key needs.',
  },
  publicKey: {
    type: 'http',
    scheme: 'bearer',
    description: "The project's public key, `pk_…`. It may be used in web pages.",
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session of a user who signed in with `POST /auth/login`. If `PUBLIC_URL` is https, the cookie is `__Host-tidings_session`.',
  },
} as const;
