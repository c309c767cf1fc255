import type { ParsedEmail } from './messages.ts';

export function toEmailResponse({ id, from, to, subject, html, text, headers, createdAt }: ParsedEmail) {
  return { id, from, to, subject, html, text, headers, createdAt };
}
