import { escapeHtml } from '../rules/content/plain-value.ts';
import { INTER_FACE, MONO, MONO_FACE, SANS } from './fonts.ts';
import { MARK } from './logo.ts';

/** A captured email in the list of the mailbox. */
export interface MailboxItem {
  id: string;
  from: string;
  to: string;
  subject: string;
  /** The beginning of the email's text. */
  preview: string;
  createdAt: Date;
}

export interface MailboxMessage extends MailboxItem {
  headers: Record<string, string>;
  text: string;
  hasHtml: boolean;
  attachments: { filename: string; type: string; bytes: number }[];
}

export interface MailboxSms {
  from: string;
  to: string;
  body: string;
  createdAt: Date;
}

export const MAILBOX_STYLE = `${INTER_FACE}
${MONO_FACE}
:root{color-scheme:light dark;--page:#fff;--text:#16191a;--soft:#545a5e;--line:#e8e8e2;--control:#8b8f89;--hover:#f6f6f2;--sunken:#f4f4f0;--accent:#0b5e6a}
@media(prefers-color-scheme:dark){:root{--page:#131617;--text:#eceeed;--soft:#a9afb1;--line:#262a2c;--control:#6d7477;--hover:#1a1d1f;--sunken:#1a1d1f;--accent:#6ecbd5}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1184px;padding:32px;background:var(--page);color:var(--text);font:13px/18px ${SANS};-webkit-font-smoothing:antialiased}
header{display:flex;gap:12px 20px;align-items:center;flex-wrap:wrap;margin-bottom:24px;box-shadow:inset 0 -1px var(--line)}
h1{display:flex;gap:8px;align-items:center;font-size:20px;line-height:28px;font-weight:600;letter-spacing:-.014em;margin:0}
h1 a{color:inherit;text-decoration:none}
h1 svg{width:20px;height:20px;fill:var(--accent)}
h2{font-size:14px;line-height:20px;font-weight:600;margin:24px 0 8px;overflow-wrap:anywhere}
h2.subject{white-space:normal;font-size:20px;line-height:28px;margin:0 0 16px}
nav{display:flex;gap:20px}
nav a{display:inline-flex;align-items:center;height:40px;border-bottom:2px solid transparent;color:var(--soft);font-weight:500;text-decoration:none}
nav a[aria-current]{border-color:var(--accent);color:var(--text)}
.more a{color:var(--accent)}
form{margin:0 0 8px auto}
input{font:inherit;height:32px;padding:0 10px;border:1px solid var(--control);border-radius:6px;background:none;color:inherit;width:260px;max-width:100%}
input::placeholder{color:var(--soft);opacity:1}
ul{list-style:none;margin:0;padding:0}
li{border-bottom:1px solid var(--line)}
li a,li>div{display:grid;grid-template-columns:minmax(0,14rem) minmax(0,1fr) auto;gap:16px;min-height:36px;padding:9px 8px;color:inherit;text-decoration:none}
li a:hover{background:var(--hover)}
li>div>span{overflow-wrap:anywhere}
.to{font-weight:500}
.to,.subject{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.preview,time,dt{color:var(--soft)}
.subject .preview{margin-left:8px}
time{white-space:nowrap;text-align:right;font-variant-numeric:tabular-nums}
dt::first-letter{text-transform:uppercase}
.empty{padding:48px 16px;border:1px solid var(--line);border-radius:10px;text-align:center;color:var(--soft)}
dl{display:grid;grid-template-columns:8rem minmax(0,1fr);gap:4px 16px;margin:0 0 24px}
dd{margin:0;overflow-wrap:anywhere}
iframe{width:100%;height:60vh;border:1px solid var(--line);border-radius:10px;background:#fff}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border-radius:6px;padding:12px;margin:0;background:var(--sunken);font:12px/18px ${MONO}}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media(max-width:40rem){body{padding:16px}li a,li>div{position:relative;grid-template-columns:minmax(0,1fr);gap:2px}.to{padding-right:96px}li time{position:absolute;top:9px;right:8px}form,input{width:100%;margin-left:0}input{height:40px}dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:8px}}
`;

/** Returns the page that lists captured emails in the given order. `to` is the value of the filter. */
export function renderMailboxPage(items: MailboxItem[], to: string | undefined): string {
  const rows = items.map(
    (mail) => `<li><a href="/mailbox/${mail.id}"><span class="to">${escapeHtml(mail.to)}</span>
<span class="subject">${escapeHtml(mail.subject) || '(no subject)'} <span class="preview">${escapeHtml(mail.preview)}</span></span>
${renderTime(mail.createdAt)}</a></li>`,
  );
  return renderMailboxLayout('Mailbox', renderList(rows, to ? `No email to ${escapeHtml(to)} yet.` : 'No email yet.'), {
    to,
  });
}

/** Returns the page of an email: its main headers, its HTML in a frame without scripts, and its text. */
export function renderMailboxEmailPage(email: MailboxMessage): string {
  const shown = ['from', 'to', 'reply-to', 'subject', 'date', 'list-unsubscribe', 'message-id'];
  const headers = shown.flatMap((name) => {
    const value = email.headers[name];
    return value === undefined ? [] : [`<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`];
  });
  const files = email.attachments.map(
    (file) =>
      `<dd>${escapeHtml(file.filename)} <span class="preview">${escapeHtml(file.type)}, ${file.bytes} bytes</span></dd>`,
  );
  const html = email.hasHtml
    ? `<iframe title="The email" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/mailbox/${email.id}/html"></iframe>`
    : '';
  const attachments = files.length > 0 ? `<dt>attachments</dt>${files.join('<dt></dt>')}` : '';
  const subject = escapeHtml(email.subject) || '(no subject)';
  const body = `<h2 class="subject">${subject}</h2>
<dl>${headers.join('')}${attachments}</dl>
${html}
<h2>Text</h2><pre>${escapeHtml(email.text)}</pre>
<p class="more"><a href="/mailbox/${email.id}/raw">Source</a></p>`;
  return renderMailboxLayout(email.subject || '(no subject)', body);
}

/** Returns the page that lists captured SMS in the given order. `to` is the value of the filter. */
export function renderMailboxSmsPage(messages: MailboxSms[], to: string | undefined): string {
  const rows = messages.map(
    (sms) => `<li><div><span class="to">${escapeHtml(sms.to)}</span><span>${escapeHtml(sms.body)}
<span class="preview">from ${escapeHtml(sms.from)}</span></span>${renderTime(sms.createdAt)}</div></li>`,
  );
  const empty = to ? `No SMS to ${escapeHtml(to)} yet.` : 'No SMS yet.';
  return renderMailboxLayout('SMS', renderList(rows, empty), { path: '/mailbox/sms', to });
}

function renderList(rows: string[], empty: string): string {
  return rows.length > 0 ? `<ul>${rows.join('\n')}</ul>` : `<p class="empty">${empty}</p>`;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const DATE = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Shows an instant as "2 min ago", or as a date after 7 days, with the exact time in UTC on hover. */
function renderTime(at: Date): string {
  const iso = at.toISOString();
  const exact = `${iso.slice(0, 19).replace('T', ' ')} UTC`;
  return `<time datetime="${iso}" title="${exact}">${formatAge(at)}</time>`;
}

function formatAge(at: Date): string {
  const ago = Date.now() - at.getTime();
  const inUnit = (unit: 'second' | 'minute' | 'hour' | 'day', ms: number) =>
    RELATIVE.format(-Math.round(ago / ms), unit).replace('.', '');
  if (ago < 45 * SECOND_MS) return inUnit('second', SECOND_MS);
  if (ago < 45 * MINUTE_MS) return inUnit('minute', MINUTE_MS);
  if (ago < 22 * HOUR_MS) return inUnit('hour', HOUR_MS);
  return ago < 7 * DAY_MS ? inUnit('day', DAY_MS) : DATE.format(at);
}

const LISTS = [
  { path: '/mailbox', name: 'Email' },
  { path: '/mailbox/sms', name: 'SMS' },
];

function renderMailboxLayout(
  title: string,
  body: string,
  { path = '/mailbox', to = '' }: { path?: string; to?: string | undefined } = {},
): string {
  const links = LISTS.map(
    (list) => `<a href="${list.path}"${list.path === path ? ' aria-current="page"' : ''}>${list.name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Tidings mailbox</title>
<link rel="stylesheet" href="/mailbox/style.css">
</head>
<body>
<header><h1>${MARK}<a href="/mailbox">Mailbox</a></h1><nav aria-label="Mailbox">${links.join('')}</nav>
<form action="${path}"><input name="to" type="search" placeholder="Filter by recipient" aria-label="Recipient" value="${escapeHtml(to)}"></form></header>
<main>${body}</main>
</body>
</html>
`;
}
