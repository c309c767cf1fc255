import { z } from '@hono/zod-openapi';
import type { Replay, WebhookDelivery } from '../../../db/webhooks/deliveries.ts';
import type { WebhookEndpoint } from '../../../db/webhooks/endpoints.ts';
import { maskUrl } from '../../../rules/access/url-secrets.ts';
import { cursorList, EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { AT, EXAMPLE } from './input.ts';

export const Endpoint = z
  .object({
    id: Id,
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    status: z.enum(['ACTIVE', 'DEGRADED', 'DISABLED']),
    enabled: z.boolean(),
    disabledReason: z.string().nullable(),
    failuresInRow: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('WebhookEndpoint', { example: EXAMPLE });

const SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export const EndpointWithSecret = Endpoint.extend({ secret: z.string() }).openapi('WebhookEndpointWithSecret', {
  description: '`secret` is returned only once.',
  example: { ...EXAMPLE, secret: SECRET_EXAMPLE },
});

const Delivery = z
  .object({
    id: Id,
    eventId: Id,
    event: z.string(),
    status: z.enum(['PENDING', 'DELIVERED', 'FAILED']),
    attempts: z.number().int(),
    responseStatus: z.number().int().nullable(),
    responseBody: z.string().nullable().openapi({
      description:
        'The first KB of the last response. If the response contained the credentials of the URL, `***` replaces them.',
    }),
    latencyMs: z.number().int().nullable(),
    error: z.string().nullable(),
    nextAttemptAt: Instant.nullable(),
    payload: z.record(z.string(), z.unknown()),
    createdAt: Instant,
    completedAt: Instant.nullable(),
  })
  .openapi('WebhookDelivery', {
    example: {
      id: EXAMPLE_ID,
      eventId: EXAMPLE_ID,
      event: 'signup',
      status: 'DELIVERED',
      attempts: 1,
      responseStatus: 200,
      responseBody: 'ok',
      latencyMs: 42,
      error: null,
      nextAttemptAt: null,
      payload: {
        contact: { id: EXAMPLE_ID, email: 'ada@example.com', subscribed: true, data: {} },
        event: { plan: 'pro' },
      },
      createdAt: AT,
      completedAt: AT,
    },
  });

export const DeliveryList = cursorList(Delivery).openapi('WebhookDeliveryList', {
  example: { data: [], cursor: null, hasMore: false, total: 0 },
});

export const Replayed = z
  .object({ replayed: z.number().int(), nextSince: Instant.nullable() })
  .openapi('ReplayedDeliveries', { example: { replayed: 12, nextSince: null } });

export function toEndpointResponse(endpoint: WebhookEndpoint) {
  const { id, url, events, description, status, disabledReason, failuresInRow } = endpoint;
  return {
    id,
    url: maskUrl(url),
    events,
    description,
    status,
    disabledReason,
    failuresInRow,
    enabled: status !== 'DISABLED',
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  };
}

export function toReplayResponse({ count, nextSince }: Replay) {
  return { replayed: count, nextSince: nextSince?.toISOString() ?? null };
}

export function toDeliveryResponse(delivery: WebhookDelivery) {
  return {
    ...delivery,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    createdAt: delivery.createdAt.toISOString(),
    completedAt: delivery.completedAt?.toISOString() ?? null,
  };
}
