export {
  type CallOptions,
  type ItemOf,
  type ListId,
  type OperationId,
  type ResponseOf,
  Tidings,
  type TidingsOptions,
} from './client.ts';
export { type ErrorCode, type RateLimit, TidingsConnectionError, TidingsError } from './errors.ts';
export type * from './operations.generated.ts';
export { verifyWebhook, type WebhookRequest, WebhookVerificationError } from './webhooks.ts';
