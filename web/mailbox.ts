import { escapeHtml } from '../rules/content/plain-value.ts';

/** A captured email on the pages. */
export interface MailboxItem {
  id: string;
  from: string;
  to: string;
  subject: string;
  /** The start of the text. */
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

export const MAILBOX_STYLE = `:root{color-scheme:light dark;--line:#8883;--soft:#8889;--accent:#2563eb}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif}
header{display:flex;gap:1rem;align-items:baseline;flex-wrap:wrap;margin-bottom:1rem}
h1{font-size:1.25rem;margin:0}
h1 a{color:inherit;text-decoration:none}
nav a,.more a{color:var(--accent)}
form{margin-left:auto}
input{font:inherit;padding:.3rem .6rem;border:1px solid var(--line);border-radius:6px;background:none;color:inherit;width:16rem}
ul{list-style:none;margin:0;padding:0;border-top:1px solid var(--line)}
li{border-bottom:1px solid var(--line)}
li a,li>div{display:grid;grid-template-columns:14rem 1fr auto;gap:1rem;padding:.6rem .3rem;color:inherit;text-decoration:none}
li a:hover{background:#8881}
.to,.subject{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.preview,time,dt,.empty{color:var(--soft)}
dl{display:grid;grid-template-columns:7rem 1fr;gap:.2rem 1rem;margin:0 0 1rem}
dd{margin:0;overflow-wrap:anywhere}
iframe{width:100%;height:60vh;border:1px solid var(--line);border-radius:8px;background:#fff}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);border-radius:8px;padding:1rem}
@media(max-width:40rem){li a,li>div{grid-template-columns:1fr}form{margin:0}}
`;

/** Returns the list of captured emails, newest first. */
export function mailboxPage(items: MailboxItem[], to: string | undefined): string {
  const rows = items.map(
    (mail) => `<li><a href="/mailbox/${mail.id}"><span class="to">${escapeHtml(mail.to)}</span>
<span class="subject">${escapeHtml(mail.subject) || '(no subject)'} <span class="preview">${escapeHtml(mail.preview)}</span></span>
${time(mail.createdAt)}</a></li>`,
  );
  return page('Mailbox', list(rows, to ? `No email to ${escapeHtml(to)} yet.` : 'No email yet.'), to ?? '');
}

/** Returns the page of an email: its headers, its HTML in a frame without scripts, and its text. */
export function mailboxEmailPage(mail: MailboxMessage): string {
  const shown = ['from', 'to', 'reply-to', 'subject', 'date', 'list-unsubscribe', 'message-id'];
  const headers = shown.flatMap((name) => {
    const value = mail.headers[name];
    return value === undefined ? [] : [`<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`];
  });
  const files = mail.attachments.map(
    (file) =>
      `<dd>${escapeHtml(file.filename)} <span class="preview">${escapeHtml(file.type)}, ${file.bytes} bytes</span></dd>`,
  );
  const html = mail.hasHtml
    ? `<iframe title="The email" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/mailbox/${mail.id}/html"></iframe>`
    : '';
  const attachments = files.length > 0 ? `<dt>attachments</dt>${files.join('<dt></dt>')}` : '';
  const body = `<dl>${headers.join('')}${attachments}</dl>
${html}
<h2>Text</h2><pre>${escapeHtml(mail.text)}</pre>
<p class="more"><a href="/mailbox/${mail.id}/raw">Source</a></p>`;
  return page(mail.subject || '(no subject)', body);
}

/** Returns the list of captured SMS, newest first. */
export function mailboxSmsPage(messages: MailboxSms[]): string {
  const rows = messages.map(
    (sms) => `<li><div><span class="to">${escapeHtml(sms.to)}</span><span>${escapeHtml(sms.body)}
<span class="preview">from ${escapeHtml(sms.from)}</span></span>${time(sms.createdAt)}</div></li>`,
  );
  return page('SMS', list(rows, 'No SMS yet.'));
}

function list(rows: string[], empty: string): string {
  return rows.length > 0 ? `<ul>${rows.join('\n')}</ul>` : `<p class="empty">${empty}</p>`;
}

function time(at: Date): string {
  const iso = at.toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`;
}

function page(title: string, body: string, to = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Tidings mailbox</title>
<link rel="stylesheet" href="/mailbox/style.css">
</head>
<body>
<header><h1><a href="/mailbox">Mailbox</a></h1><nav><a href="/mailbox">Email</a> · <a href="/mailbox/sms">SMS</a></nav>
<form action="/mailbox"><input name="to" type="search" placeholder="Recipient" aria-label="Recipient" value="${escapeHtml(to)}"></form></header>
<main>${body}</main>
</body>
</html>
`;
}
