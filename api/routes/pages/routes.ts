import type { Trx } from '../../../db/connection.ts';
import { findConfirmation, keepProof } from '../../../db/contacts/double-opt-in.ts';
import {
  findLinkSubject,
  type LinkSubject,
  leaveTopicByLink,
  subscribeByLink,
  unsubscribeByLink,
} from '../../../db/contacts/subscription-links.ts';
import { type ContactTopic, listContactTopics, setContactTopics } from '../../../db/topics/choices.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { verifyManageToken } from '../../../rules/content/link-tokens.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import type { Page } from '../../../web/document.ts';
import {
  confirmationText,
  confirmPage,
  forgottenPage,
  leftTopicPage,
  managePage,
  type PageLinks,
  type PageSubject,
  subscribedPage,
  subscribePage,
  unsubscribedPage,
  unsubscribePage,
} from '../../../web/subscription-pages.ts';
import { readBody } from '../../http/body.ts';
import { clientAddress } from '../../http/client-address.ts';
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
 * The pages behind `{{unsubscribeUrl}}`, `{{subscribeUrl}}` and `{{manageUrl}}`. GET shows and never changes anything;
 * POST changes, without cookies, so that a mail program's one-click post works (RFC 8058 §3.1). The signed token is the
 * right to do it, and does not expire.
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
      const links = {
        unsubscribe: `/u/${token}`,
        subscribe: `/s/${token}`,
        manage: `/m/${token}`,
        confirm: `/confirm/${token}`,
      };
      return answerPage(c, await handle({ c, subject, shown: shownOf(subject), links }));
    });
  };

  async function topicsOf({ projectId, contactId }: LinkSubject): Promise<ContactTopic[]> {
    return contactId === null ? [] : listContactTopics(db, { projectId, contactId });
  }

  async function change(subject: LinkSubject, how: Change): Promise<void> {
    lifecycle.dispatch(await inTransaction(db, (trx) => how(trx, key, subject)));
  }

  on('get', '/u/{token}', ({ shown, links }) => unsubscribePage(shown, links));
  on('post', '/u/{token}', async ({ c, subject, shown, links }) => {
    // `List-Unsubscribe=One-Click` of a mail about a topic leaves the topic; so does the page's first button.
    const form = await readForm(c);
    if (subject.topic && form.get('from') !== 'everything') {
      await change(subject, leaveTopicByLink);
      return leftTopicPage(shown, links);
    }
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

  on('get', '/confirm/{token}', async ({ subject, shown, links }) => {
    const found = await findConfirmation(db, subject);
    return confirmPage(shown, links, found?.holds ?? false);
  });
  on('post', '/confirm/{token}', async ({ c, subject, shown, links }) => {
    await readBody(c, FORM_MAX_BYTES);
    const { projectId, emailId } = subject;
    const found = await findConfirmation(db, subject);
    if (!found?.holds || emailId === null || subject.addresses.length === 0) return confirmPage(shown, links, false);
    const text = confirmationText(shown);
    await change(subject, async (trx, _, confirmed) => {
      const outbox = await subscribeByLink(trx, key, confirmed);
      await keepProof(trx, { projectId, emailId, ip: clientAddress(c), text });
      return outbox;
    });
    return subscribedPage({ ...shown, subscribed: true }, links);
  });

  on('get', '/m/{token}', async ({ subject, shown, links }) =>
    managePage({ ...shown, topics: await topicsOf(subject) }, links, { saved: false }),
  );
  on('post', '/m/{token}', async ({ c, subject, shown, links }) => {
    const form = await readForm(c);
    const topics = await topicsOf(subject);
    const choice = form.get('subscribed');
    if (choice !== 'true' && choice !== 'false') return managePage({ ...shown, topics }, links, { saved: false });
    const subscribed = choice === 'true';
    if (subscribed !== shown.subscribed && subject.addresses.length > 0)
      await change(subject, subscribed ? subscribeByLink : unsubscribeByLink);
    const { contactId } = subject;
    const changed = changedTopics(topics, form);
    if (contactId !== null && Object.keys(changed).length > 0)
      await change(subject, (trx, _, { projectId, mode }) =>
        setContactTopics(trx, { projectId, contactId, topics: changed, mode }),
      );
    const saved = topics.map((topic) => ({ ...topic, joined: changed[topic.id] ?? topic.joined }));
    return managePage({ ...shown, subscribed, topics: saved }, links, { saved: true });
  });
}

/** What of the form says something else than before; forms without topics, as older pages have them, change none. */
function changedTopics(topics: readonly ContactTopic[], form: URLSearchParams): Record<string, boolean> {
  if (form.get('topics') !== 'shown') return {};
  const ticked = new Set(form.getAll('topic'));
  const changed = topics.filter((topic) => topic.joined !== ticked.has(topic.id));
  return Object.fromEntries(changed.map((topic) => [topic.id, !topic.joined]));
}

async function readForm(c: RequestContext): Promise<URLSearchParams> {
  return new URLSearchParams(Buffer.from(await readBody(c, FORM_MAX_BYTES)).toString('utf8'));
}

function shownOf({ projectName, color, addresses, subscribed, topic }: LinkSubject): PageSubject {
  return { projectName, color, address: addresses[0] ?? null, subscribed, topic, topics: [] };
}
