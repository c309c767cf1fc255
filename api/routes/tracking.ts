import type { OpenAPIHono } from '@hono/zod-openapi';
import { type ContentCache, createContentCache } from '../../db/content-cache.ts';
import { untrustedOf, variablesOf } from '../../db/email-variables.ts';
import { listProvenEmails } from '../../db/emails.ts';
import { isLoopbackHost } from '../../domain/config.ts';
import { resolveLink } from '../../domain/content.ts';
import { verifyTrackToken } from '../../domain/link-tokens.ts';
import { type FetchKind, machineBehind } from '../../domain/prefetchers.ts';
import { TemplateError } from '../../domain/template-error.ts';
import type { Deps } from '../deps.ts';
import type { AppEnv, RequestContext } from '../env.ts';
import { answerNoSuchLink } from '../page-answer.ts';
import type { RouteTable } from '../route-table.ts';

/** A transparent GIF of one pixel, 43 bytes. */
const PIXEL = new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64'));
const NO_STORE = { 'cache-control': 'no-store, private, max-age=0', 'x-robots-tag': 'noindex' };
const OPEN = '/o/{token}.gif';
const CLICK = '/c/{token}/{link}';

/**
 * The open pixel and the signed redirects of tracked mail. They answer first and count afterwards, in batches (`deps.engagements`). A click
 * leads only where the mail's own content does: `link` is an index into its links. Source: decisions §9, performance.md §1.
 */
export function trackingRoutes(hono: OpenAPIHono<AppEnv>, table: RouteTable, deps: Deps): void {
  const { config, db, engagements } = deps;
  const contents = createContentCache(db);
  const lenient = isLoopbackHost(new URL(config.publicUrl).hostname);
  const isMachine = (c: RequestContext, kind: FetchKind) => machineBehind(fetchOf(c), kind, { lenient }) !== undefined;
  table.add('get', OPEN);
  table.add('get', CLICK);

  hono.get('/o/:file{[^/]+\\.gif}', (c) => {
    c.set('route', OPEN);
    const emailId = verifyTrackToken(config.secretKey, c.req.param('file').slice(0, -'.gif'.length));
    if (!emailId) return answerNoSuchLink(c);
    engagements.add({ emailId, kind: 'open', at: new Date(), machine: isMachine(c, 'open') });
    return c.body(PIXEL, 200, { ...NO_STORE, 'content-type': 'image/gif' });
  });

  hono.get('/c/:token/:link', async (c) => {
    c.set('route', CLICK);
    const emailId = verifyTrackToken(config.secretKey, c.req.param('token'));
    const link = emailId && (await findLink(deps, contents, { emailId, index: c.req.param('link') }));
    if (!link) return answerNoSuchLink(c);
    engagements.add({ emailId, kind: 'click', at: new Date(), machine: isMachine(c, 'click'), link });
    return c.body(null, 302, { ...NO_STORE, location: link });
  });
}

/** Where a link of a mail leads; undefined when the mail has no such link. */
async function findLink(
  { db, log }: Deps,
  contents: ContentCache,
  { emailId, index }: { emailId: string; index: string },
): Promise<string | undefined> {
  if (!/^\d{1,4}$/.test(index)) return undefined;
  const [email] = await listProvenEmails(db, [emailId]);
  if (!email) return undefined;
  try {
    // Compiled as tracked: the token was made for a mail that was, whatever the project's mode is now.
    const { compiled } = await contents.get({ projectId: email.projectId, contentId: email.contentId, tracked: true });
    const link = compiled.links[Number(index)];
    return link && resolveLink(link, variablesOf(email), untrustedOf(email));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    log.warn({ emailId, reason: error.message }, 'the link of a mail could not be made');
    return undefined;
  }
}

function fetchOf(c: RequestContext) {
  const header = (name: string) => c.req.header(name) ?? '';
  return {
    method: c.req.method,
    userAgent: header('user-agent'),
    purpose: `${header('sec-purpose')} ${header('purpose')} ${header('x-purpose')} ${header('x-moz')}`,
  };
}
