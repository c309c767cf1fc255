import type { ParsedEmail } from './messages.ts';

export function emailResponse({ id, from, to, subject, html, text, headers, createdAt }: ParsedEmail) {
  return { id, from, to, subject, html, text, headers, createdAt };
}
