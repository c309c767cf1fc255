import type { ParsedMail } from './messages.ts';

export function mailResponse({ id, from, to, subject, html, text, headers, createdAt }: ParsedMail) {
  return { id, from, to, subject, html, text, headers, createdAt };
}
