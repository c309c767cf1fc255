import { z } from '@hono/zod-openapi';
import type { SmsSender } from '../../../db/sms/senders.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { EXAMPLE } from './input.ts';

export const Sender = z
  .object({ id: Id, country: z.string().nullable(), from: z.string(), createdAt: Instant })
  .openapi('SmsSender', {
    example: { id: EXAMPLE_ID, ...EXAMPLE, createdAt: '2026-01-01T12:00:00.000Z' },
  });

export function toSenderResponse({ id, country, from, createdAt }: SmsSender) {
  return { id, country, from, createdAt: createdAt.toISOString() };
}
