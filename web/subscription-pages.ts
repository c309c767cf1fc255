import { escapeHtml } from '../rules/content/plain-value.ts';
import { type HtmlPage, renderHtmlPage } from './document.ts';

/** The project and the person that a page is about. */
export interface PageSubject {
  projectName: string;
  color: string | null;
  /** The address that the link belongs to. Null if only its hash is stored. */
  address: string | null;
  /**
   * True if the contact's data was deleted, so no contact has the address any more. No email is sent to the address.
   * The person can still unsubscribe.
   */
  isErased: boolean;
  subscribed: boolean;
  /** The topic of the email that contained the link. Null if the link is not from an email, or the email has no topic. */
  topic: { name: string; joined: boolean } | null;
  /** The topics on the preferences page. */
  topics: readonly { id: string; name: string; description: string | null; joined: boolean }[];
}

/** URLs of the pages of one link. */
export interface PageLinks {
  unsubscribe: string;
  subscribe: string;
  manage: string;
  confirm: string;
}

/**
 * Returns the page on which a person confirms that they want to unsubscribe, or the result if they already have. The
 * link itself does not unsubscribe, because mail scanners follow links, but only people press buttons.
 */
export function renderUnsubscribePage(subject: PageSubject, links: PageLinks): HtmlPage {
  if (!subject.subscribed) return renderUnsubscribedPage(subject, links);
  if (subject.topic) return renderUnsubscribeTopicPage(subject, subject.topic, links);
  return renderSubjectPage(
    subject,
    'Unsubscribe',
    `<h1>Unsubscribe?</h1>
<p>${maskAddress(subject)} will get no more marketing email from ${escapeProjectName(subject)}.</p>
${renderButton(links.unsubscribe, 'Unsubscribe')}
<p class="soft">You will still get email about your orders and account. <a href="${links.manage}">See your preferences</a></p>`,
  );
}

/**
 * Returns the unsubscribe page for a link in an email about a topic. The first button unsubscribes the person from the
 * topic, and the second button unsubscribes them from all marketing email.
 */
function renderUnsubscribeTopicPage(
  subject: PageSubject,
  topic: { name: string; joined: boolean },
  links: PageLinks,
): HtmlPage {
  if (!topic.joined) return renderUnsubscribedTopicPage(subject, links);
  const name = escapeHtml(topic.name);
  return renderSubjectPage(
    subject,
    'Unsubscribe',
    `<h1>Unsubscribe?</h1>
<p>Choose which email from ${escapeProjectName(subject)} to stop for ${maskAddress(subject)}: email about “${name}”, or all marketing email.</p>
${renderUnsubscribeButton(links.unsubscribe, 'topic', `Unsubscribe from ${name}`)}
${renderUnsubscribeButton(links.unsubscribe, 'everything', 'Unsubscribe from everything')}
<p class="soft">You will still get email about your orders and account. <a href="${links.manage}">See your preferences</a></p>`,
  );
}

/** Returns the page that is shown after a person has left a topic, and when the person opens the link again. */
export function renderUnsubscribedTopicPage(subject: PageSubject, links: PageLinks): HtmlPage {
  const name = escapeHtml(subject.topic?.name ?? '');
  return renderSubjectPage(
    subject,
    'Unsubscribed',
    `<h1>You are unsubscribed from “${name}”</h1>
<p>${maskAddress(subject)} will get no more email about this topic from ${escapeProjectName(subject)}.</p>
${renderUnsubscribeButton(links.unsubscribe, 'everything', 'Unsubscribe from everything')}
<p class="soft">Was that a mistake? <a href="${links.manage}">See your preferences</a></p>`,
  );
}

function renderUnsubscribeButton(action: string, from: 'topic' | 'everything', label: string): string {
  return `<form method="post" action="${action}"><input type="hidden" name="from" value="${from}"><button type="submit">${label}</button></form>`;
}

/** Returns the page that is shown after a person has unsubscribed, and when the person opens the link again. */
export function renderUnsubscribedPage(subject: PageSubject, links: PageLinks): HtmlPage {
  const again = subject.isErased
    ? ''
    : `<p class="soft">Was that a mistake? <a href="${links.subscribe}">Subscribe again</a></p>`;
  return renderSubjectPage(
    subject,
    'Unsubscribed',
    `<h1>You are unsubscribed</h1>
<p>${maskAddress(subject)} will get no more marketing email from ${escapeProjectName(subject)}.</p>${again}`,
  );
}

export function renderSubscribePage(subject: PageSubject, links: PageLinks): HtmlPage {
  if (subject.isErased) return renderDeletedContactPage(subject);
  if (subject.subscribed) return renderSubscribedPage(subject, links);
  return renderSubjectPage(
    subject,
    'Subscribe',
    `<h1>Subscribe?</h1>
<p>${maskAddress(subject)} will get email from ${escapeProjectName(subject)}.</p>
${renderButton(links.subscribe, 'Subscribe')}
<p class="soft">You can unsubscribe at any time, with the link in every email.</p>`,
  );
}

/** Returns the text to which a person agrees with the Confirm button. The text is stored as proof of the consent. */
export function renderConsentText({ address, projectName }: PageSubject): string {
  return `${address ?? ''} will get email from ${projectName}. You can unsubscribe at any time, with the link in every email.`;
}

/**
 * Returns the confirmation page of a double opt-in. `isValid` is false if the link was already used, has expired, or is
 * older than an unsubscription or complaint of the person.
 */
export function renderConfirmPage(subject: PageSubject, links: PageLinks, isValid: boolean): HtmlPage {
  if (subject.isErased) return renderDeletedContactPage(subject);
  if (subject.subscribed) return renderSubscribedPage(subject, links);
  if (!isValid) {
    const body = `<h1>This link is no longer valid</h1>
<p>It has expired, or you have unsubscribed since. To get email from ${escapeProjectName(subject)}, please sign up again.</p>`;
    return renderSubjectPage(subject, 'Link no longer valid', body);
  }
  return renderSubjectPage(
    subject,
    'Confirm',
    `<h1>Confirm your subscription</h1>
<p>${escapeHtml(renderConsentText(subject))}</p>
${renderButton(links.confirm, 'Confirm')}`,
  );
}

export function renderSubscribedPage(subject: PageSubject, links: PageLinks): HtmlPage {
  if (subject.isErased) return renderDeletedContactPage(subject);
  return renderSubjectPage(
    subject,
    'Subscribed',
    `<h1>You are subscribed</h1>
<p>${maskAddress(subject)} will get email from ${escapeProjectName(subject)}.</p>
<p class="soft"><a href="${links.unsubscribe}">Unsubscribe</a></p>`,
  );
}

export function renderPreferencesPage(subject: PageSubject, links: PageLinks, p: { saved: boolean }): HtmlPage {
  const option = (value: 'true' | 'false', label: string) => {
    const checked = String(subject.subscribed) === value ? ' checked' : '';
    return `<label><input type="radio" name="subscribed" value="${value}"${checked}> <span>${label}</span></label>`;
  };
  return renderSubjectPage(
    subject,
    'Email preferences',
    `<h1>Email preferences</h1>
${p.saved ? '<p role="status"><strong>Saved.</strong></p>' : ''}<p>For ${maskAddress(subject)}</p>
<form method="post" action="${links.manage}">
<fieldset><legend>Marketing email from ${escapeProjectName(subject)}</legend>
${option('true', 'Subscribed')}
${option('false', 'Unsubscribed')}
</fieldset>
${renderTopicChoices(subject)}<button type="submit">Save</button>
</form>
<p class="soft">You will still get email about your orders and account.</p>`,
  );
}

function renderTopicChoices({ topics }: PageSubject): string {
  if (topics.length === 0) return '';
  const boxes = topics.map(({ id, name, description, joined }) => {
    const more = description ? ` <small>${escapeHtml(description)}</small>` : '';
    return `<label><input type="checkbox" name="topic" value="${id}"${joined ? ' checked' : ''}> <span>${escapeHtml(name)}${more}</span></label>`;
  });
  return `<fieldset><legend>Topics</legend><input type="hidden" name="topics" value="shown">
${boxes.join('\n')}
</fieldset>
`;
}

/**
 * Returns the page for a subscription link of a deleted contact. The service can send no email to the person until the
 * person signs up again.
 */
function renderDeletedContactPage(subject: PageSubject): HtmlPage {
  return renderSubjectPage(
    subject,
    'Not subscribed',
    `<h1>Your data was deleted</h1>
<p>${escapeProjectName(subject)} sends no more email to this address. To subscribe, please sign up again.</p>`,
  );
}

/** Returns the page for a link whose contact and address are no longer stored. The link cannot change anything. */
export function renderLinkWithoutContactPage(subject?: Pick<PageSubject, 'projectName' | 'color'>): HtmlPage {
  return renderHtmlPage({
    ...subject,
    title: 'Nothing was changed',
    body: '<h1>This link is no longer valid</h1><p>Your data was deleted, so nothing was changed. If you still get email, please use the link in the latest one.</p>',
  });
}

function renderSubjectPage(subject: PageSubject, title: string, body: string): HtmlPage {
  return renderHtmlPage({ title, body, projectName: subject.projectName, color: subject.color });
}

function renderButton(action: string, label: string): string {
  return `<form method="post" action="${action}"><button type="submit">${label}</button></form>`;
}

function escapeProjectName({ projectName }: PageSubject): string {
  return escapeHtml(projectName);
}

/**
 * Returns HTML with the first character and the domain of the address. People forward emails, and the new reader should
 * not learn the contact's address.
 */
function maskAddress({ address }: PageSubject): string {
  if (!address) return 'Your address';
  const at = address.lastIndexOf('@');
  return `<strong>${escapeHtml(`${[...address][0]}•••${address.slice(at)}`)}</strong>`;
}
