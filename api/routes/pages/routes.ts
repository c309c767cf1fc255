import type { Trx } from '../../../db/connection.ts';
import {
  findLinkSubject,
  type LinkSubject,
  subscribeByLink,
  unsubscribeByLink,
} from '../../../db/contacts/subscription-links.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { verifyManageToken } from '../../../rules/content/link-tokens.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import type { Page } from '../../../web/document.ts';
import {
  forgottenPage,
  managePage,
  type PageLinks,
  type PageSubject,
  subscribedPage,
  subscribePage,
  unsubscribedPage,
  unsubscribePage,
} from '../../../web/subscription-pages.ts';
import { readBody } from '../../http/body.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';
import type { OpenRoutes } from '../../http/registrar.ts';
import { answerNoSuchLink, answerPage } from './answer.ts';

/** The forms of the pages, and the one-click post of a mail program, are a line. */
const FORM_MAX_BYTES = 16 * 1024;

interface Visit {
  c: RequestContext;
  subject: LinkSubject;
  shown: PageSubject;
  links: PageLinks;
}

type Change = (trx: Trx, key: Buffer, subject: LinkSubject) => Promise<OutboxRow[]>;

/**
 * The pages behind `{{unsubscribeUrl}}`, `{{subscribeUrl}}` and `{{manageUrl}}`. GET shows and never changes anything; POST changes, without
 * cookies, so that a mail program's one-click post works (RFC 8058 §3.1). The signed token is the right to do it, and does not expire.
 */
export function pageRoutes(openly: OpenRoutes, { config, db, lifecycle }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  const on = (method: 'get' | 'post', path: string, handle: (visit: Visit) => Promise<Page> | Page) => {
    openly[method](path, async (c) => {
      const token = c.req.param('token') ?? '';
      const proven = verifyManageToken(config.secretKey, token);
      if (!proven) return answerNoSuchLink(c);
      const subject = await findLinkSubject(db, key, proven);
      if (!subject) return answerPage(c, forgottenPage());
      const links = { unsubscribe: `/u/${token}`, subscribe: `/s/${token}`, manage: `/m/${token}` };
      return answerPage(c, await handle({ c, subject, shown: shownOf(subject), links }));
    });
  };

  async function change(subject: LinkSubject, how: Change): Promise<void> {
    lifecycle.dispatch(await inTransaction(db, (trx) => how(trx, key, subject)));
  }

  on('get', '/u/{token}', ({ shown, links }) => unsubscribePage(shown, links));
  on('post', '/u/{token}', async ({ c, subject, shown, links }) => {
    await readBody(c, FORM_MAX_BYTES); // `List-Unsubscribe=One-Click`, or the empty form of the page: the same.
    await change(subject, unsubscribeByLink);
    return unsubscribedPage({ ...shown, subscribed: false }, links);
  });

  on('get', '/s/{token}', ({ shown, links }) => subscribePage(shown, links));
  on('post', '/s/{token}', async ({ c, subject, shown, links }) => {
    await readBody(c, FORM_MAX_BYTES);
    if (subject.addresses.length === 0) return forgottenPage(shown);
    await change(subject, subscribeByLink);
    return subscribedPage({ ...shown, subscribed: true }, links);
  });

  on('get', '/m/{token}', ({ shown, links }) => managePage(shown, links, { saved: false }));
  on('post', '/m/{token}', async ({ c, subject, shown, links }) => {
    const form = new URLSearchParams(Buffer.from(await readBody(c, FORM_MAX_BYTES)).toString('utf8'));
    const choice = form.get('subscribed');
    if (choice !== 'true' && choice !== 'false') return managePage(shown, links, { saved: false });
    const subscribed = choice === 'true';
    if (subscribed !== shown.subscribed && subject.addresses.length > 0)
      await change(subject, subscribed ? subscribeByLink : unsubscribeByLink);
    return managePage({ ...shown, subscribed }, links, { saved: true });
  });
}

function shownOf({ projectName, color, addresses, subscribed }: LinkSubject): PageSubject {
  return { projectName, color, address: addresses[0] ?? null, subscribed };
}
