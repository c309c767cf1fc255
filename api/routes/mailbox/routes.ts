import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { findCapturedEmail, listCapturedEmails, listCapturedSms } from '../../../db/sending/captured.ts';
import { AppError, createQueryError } from '../../../rules/errors.ts';
import {
  MAILBOX_STYLE,
  renderMailboxEmailPage,
  renderMailboxPage,
  renderMailboxSmsPage,
} from '../../../web/mailbox.ts';
import type { Deps } from '../../http/deps.ts';
import type { AppEnv } from '../../http/env.ts';
import type { RouteTable } from '../../http/route-table.ts';
import { listReadableProjects } from './access.ts';
import { parseCaptured } from './messages.ts';
import { toEmailResponse } from './response.ts';

const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Content-Security-Policy of the HTML of a captured email. As in an email client, images and styles are permitted, and
 * scripts and forms are not. Only pages of this service may show the email in a frame.
 */
const MAIL_POLICY =
  "default-src 'none'; img-src * data:; style-src 'unsafe-inline'; font-src *; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";

/**
 * Maximum number of emails in `/mailbox.json`. It equals the number of parsed emails in memory. A test script that
 * searches the list for its emails needs fewer.
 */
const LISTED_MAX = 1000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type PageContext = Context<AppEnv>;

/**
 * Response header that says which emails the mailbox contains: `all` if the email provider is `capture`, or `simulator`
 * if a provider sends all email except email to the simulator (`…@simulator.test`).
 */
export const MAILBOX_OF_HEADER = 'x-mailbox-of';

/**
 * Serves the mailbox as pages and as JSON. It contains all emails if the email provider is `capture`, otherwise only
 * emails to the simulator. It contains SMS only if the SMS provider is `capture`. `listReadableProjects` decides which
 * messages a request may read. A request from this machine may read all messages. A request from another machine may
 * read the messages of the projects that the user owns.
 */
export function registerMailboxRoutes(hono: OpenAPIHono<AppEnv>, table: RouteTable, deps: Deps): void {
  const { config, db } = deps;
  const get = (path: string, handler: (c: PageContext) => Promise<Response> | Response) => {
    table.add('get', path);
    hono.get(path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => {
      c.set('route', path);
      c.header('Cache-Control', 'no-store');
      c.header(MAILBOX_OF_HEADER, config.email.captures ? 'all' : 'simulator');
      return handler(c);
    });
  };
  get('/mailbox/style.css', (c) => c.body(MAILBOX_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  if (config.sms.captures) {
    get('/mailbox/sms.json', async (c) => c.json({ data: await listCapturedSms(db, await readMailboxRequest(c)) }));
    get('/mailbox/sms', async (c) => {
      const filter = await readMailboxRequest(c);
      return respondWithHtml(c, renderMailboxSmsPage(await listCapturedSms(db, filter), filter.to));
    });
  }
  get('/mailbox.json', async (c) => {
    const emails = await listCapturedEmails(db, { ...(await readMailboxRequest(c)), limit: LISTED_MAX });
    return c.json({ data: (await Promise.all(emails.map(parseCaptured))).map(toEmailResponse) });
  });
  get('/mailbox', async (c) => {
    const filter = await readMailboxRequest(c);
    const emails = await listCapturedEmails(db, filter);
    return respondWithHtml(c, renderMailboxPage(await Promise.all(emails.map(parseCaptured)), filter.to));
  });
  get('/mailbox/{id}', async (c) =>
    respondWithHtml(c, renderMailboxEmailPage(await parseCaptured(await readCapturedEmail(c)))),
  );
  get('/mailbox/{id}/html', async (c) => {
    const { html } = await parseCaptured(await readCapturedEmail(c));
    return c.body(html, 200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': MAIL_POLICY });
  });
  get('/mailbox/{id}/raw', async (c) => {
    const { raw } = await readCapturedEmail(c);
    return c.body(raw.toString('utf8'), 200, { 'content-type': 'text/plain; charset=utf-8' });
  });

  async function readMailboxRequest(c: PageContext) {
    return { projects: await listReadableProjects(c, deps), to: readRecipient(c) };
  }

  async function readCapturedEmail(c: PageContext) {
    const projects = await listReadableProjects(c, deps);
    const id = c.req.param('id') ?? '';
    const email = UUID.test(id) ? await findCapturedEmail(db, { id, projects }) : undefined;
    if (!email) throw new AppError('NOT_FOUND', { message: 'No captured email has this id.' });
    return email;
  }
}

/**
 * Returns the recipient to filter by.
 * @throws AppError VALIDATION_ERROR (400) for text that Postgres cannot store
 */
function readRecipient(c: PageContext): string | undefined {
  const to = c.req.query('to') || undefined;
  if (to?.includes('\0'))
    throw createQueryError([{ field: 'to', message: 'Must not contain NUL characters.', code: 'invalid_string' }]);
  return to;
}

function respondWithHtml(c: PageContext, html: string): Response {
  return c.body(html, 200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY });
}
