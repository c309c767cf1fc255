import type { Trx } from '../../../db/connection.ts';
import { isConfirmationLinkValid, storeConfirmationProof } from '../../../db/contacts/double-opt-in.ts';
import { type ContactTopic, listContactTopics } from '../../../db/topics/contact-topics.ts';
import { listAddressTopics } from '../../../db/topics/topic-refusals.ts';
import { inTransaction } from '../../../db/transaction.ts';
import {
  findLinkSubject,
  type LinkSubject,
  leaveTopicByLink,
  runForLinkSubject,
  setTopicsByLink,
  subscribeByLink,
  unsubscribeByLink,
} from '../../../engine/contacts/subscription-links.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { LINK_TOKEN_CHARS, type TokenSubject, verifyManageToken } from '../../../rules/content/link-tokens.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import type { HtmlPage } from '../../../web/document.ts';
import {
  type PageLinks,
  type PageSubject,
  renderConfirmPage,
  renderConsentText,
  renderLinkWithoutContactPage,
  renderPreferencesPage,
  renderSubscribedPage,
  renderSubscribePage,
  renderUnsubscribedPage,
  renderUnsubscribedTopicPage,
  renderUnsubscribePage,
} from '../../../web/subscription-pages.ts';
import { readBody } from '../../http/body.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';
import type { UnauthenticatedRoutes } from '../../http/registrar.ts';
import { respondInvalidLink, respondWithPage } from './response.ts';

/** Maximum size of a form. Forms of the pages, and one-click requests of email clients, are far smaller. */
const FORM_MAX_BYTES = 16 * 1024;

/** A request to a page behind a valid link. */
interface PageRequest {
  c: RequestContext;
  token: TokenSubject;
  subject: LinkSubject;
  shown: PageSubject;
  links: PageLinks;
}

type Change = (trx: Trx, subject: LinkSubject) => Promise<OutboxRow[]>;

/**
 * Serves the pages behind `{{unsubscribeUrl}}`, `{{subscribeUrl}}`, `{{manageUrl}}` and `{{confirmUrl}}`. GET never
 * changes anything. POST changes the subscription without cookies, so that one-click requests of email clients work
 * (RFC 8058 §3.1). The signed token in the link authorizes the change, and does not expire. Only a confirmation is
 * possible for a limited time (`isConfirmationLinkValid`). After a change, the page shows the stored state.
 */
export function registerPageRoutes(unauthenticated: UnauthenticatedRoutes, { config, db, outbox }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  const on = (method: 'get' | 'post', path: string, handle: (request: PageRequest) => Promise<HtmlPage> | HtmlPage) => {
    const handler = async (c: RequestContext) => {
      const linkText = c.req.param('token') ?? '';
      const token = verifyManageToken(config.secretKey, linkText);
      // Some email clients add the punctuation after a link to the link, so only the characters of the token are used.
      const text = linkText.slice(0, LINK_TOKEN_CHARS);
      if (!token) return respondInvalidLink(c);
      const subject = await findLinkSubject(db, key, token);
      // The service no longer knows the address, so nothing can be changed. A POST gets 410, because an email client
      // would treat a 200 as a successful unsubscription.
      if (!subject || subject.addresses.length === 0)
        return respondWithPage(c, renderLinkWithoutContactPage(subject), method === 'get' ? 200 : 410);
      const links = {
        unsubscribe: `/u/${text}`,
        subscribe: `/s/${text}`,
        manage: `/m/${text}`,
        confirm: `/confirm/${text}`,
      };
      return respondWithPage(c, await handle({ c, token, subject, shown: toPageSubject(subject), links }));
    };
    unauthenticated[method](path, handler, {
      pattern: path.replace('{token}', ':token{[\\s\\S]+}'),
      cutOffAt: [path.replace('/{token}', ''), path.replace('{token}', '')],
    });
  };

  function listTopics({ projectId, contactIds: [contactId], addresses }: LinkSubject): Promise<ContactTopic[]> {
    if (contactId !== undefined) return listContactTopics(db, { projectId, contactId });
    return listAddressTopics(db, { projectId, hashes: addresses.map(({ hash }) => hash) });
  }

  /** Makes a change in a transaction, and returns the state after the change for the page. */
  async function applyChange({ token, shown }: PageRequest, action: Change): Promise<PageSubject> {
    const queued = await inTransaction(db, (trx) => runForLinkSubject(trx, key, { token, change: action }));
    outbox.wake(queued);
    const after = await findLinkSubject(db, key, token);
    return after ? toPageSubject(after) : shown;
  }

  const unsubscribe: Change = (trx, subject) => unsubscribeByLink(trx, key, subject);

  on('get', '/u/{token}', ({ shown, links }) => renderUnsubscribePage(shown, links));
  on('post', '/u/{token}', async (request) => {
    const { c, subject, links } = request;
    // If the email has a topic, a one-click request unsubscribes the contact only from this topic. The first button of
    // the page does the same.
    const form = await readForm(c);
    if (subject.topic && form.get('from') !== 'everything')
      return renderUnsubscribedTopicPage(await applyChange(request, leaveTopicByLink), links);
    return renderUnsubscribedPage(await applyChange(request, unsubscribe), links);
  });

  on('get', '/s/{token}', ({ shown, links }) => renderSubscribePage(shown, links));
  on('post', '/s/{token}', async (request) => {
    await readBody(request.c, FORM_MAX_BYTES);
    return renderSubscribedPage(await applyChange(request, subscribeByLink), request.links);
  });

  on('get', '/confirm/{token}', async ({ subject, shown, links }) =>
    renderConfirmPage(shown, links, await isConfirmationLinkValid(db, subject)),
  );
  on('post', '/confirm/{token}', async (request) => {
    const { c, shown, links } = request;
    await readBody(c, FORM_MAX_BYTES);
    const text = renderConsentText(shown);
    const after = await applyChange(request, async (trx, confirmed) => {
      const { projectId, emailId } = confirmed;
      if (emailId === null || !(await isConfirmationLinkValid(trx, confirmed))) return [];
      const queued = await subscribeByLink(trx, confirmed);
      await storeConfirmationProof(trx, { projectId, emailId, ip: readClientAddress(c), text });
      return queued;
    });
    return renderConfirmPage(after, links, false);
  });

  on('get', '/m/{token}', async ({ subject, shown, links }) =>
    renderPreferencesPage({ ...shown, topics: await listTopics(subject) }, links, { saved: false }),
  );
  on('post', '/m/{token}', async (request) => {
    const { c, subject, shown, links } = request;
    const form = await readForm(c);
    const topics = await listTopics(subject);
    const choice = form.get('subscribed');
    if (choice !== 'true' && choice !== 'false')
      return renderPreferencesPage({ ...shown, topics }, links, { saved: false });
    const choices = readTopicChanges(topics, form);
    const after = await applyChange(request, async (trx, current) => {
      const queued: OutboxRow[] = [];
      if (choice === 'true' && !current.subscribed) queued.push(...(await subscribeByLink(trx, current)));
      if (choice === 'false') queued.push(...(await unsubscribeByLink(trx, key, current)));
      if (Object.keys(choices).length > 0) queued.push(...(await setTopicsByLink(trx, current, choices)));
      return queued;
    });
    return renderPreferencesPage({ ...after, topics: await listTopics(subject) }, links, { saved: true });
  });
}

/** Returns the topics that the form changes, by id. A form without topics, from an older page, changes no topics. */
function readTopicChanges(topics: readonly ContactTopic[], form: URLSearchParams): Record<string, boolean> {
  if (form.get('topics') !== 'shown') return {};
  const checkedIds = new Set(form.getAll('topic'));
  const choices = topics.filter((topic) => topic.joined !== checkedIds.has(topic.id));
  return Object.fromEntries(choices.map((topic) => [topic.id, !topic.joined]));
}

async function readForm(c: RequestContext): Promise<URLSearchParams> {
  return new URLSearchParams(Buffer.from(await readBody(c, FORM_MAX_BYTES)).toString('utf8'));
}

function toPageSubject({ projectName, color, contactIds, addresses, subscribed, topic }: LinkSubject): PageSubject {
  const address = addresses[0]?.email ?? null;
  const isErased = contactIds.length === 0 && address === null;
  return { projectName, color, address, isErased, subscribed, topic, topics: [] };
}
