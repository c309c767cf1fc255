import { OPERATIONS } from '../../packages/client/src/operations.generated.ts';
import { ApiFailure, callApi, type OperationId, type ResponseOf, type VersionedInput } from './client.ts';

/**
 * Operations whose response contains a secret that is shown only once. These requests have no Idempotency-Key, because
 * the response that the service stores for a retry would lack the secret.
 */
const SHOWS_SECRET: readonly OperationId[] = [
  'createApiKey',
  'createWebhook',
  'rotatePublicKey',
  'rotateWebhookSecret',
];

type Send<Id extends OperationId> = (
  id: Id,
  input: VersionedInput<Id>,
  options: { idempotencyKey?: string | undefined },
) => Promise<ResponseOf<Id>>;

/**
 * Creates a function that calls a write operation, and does not repeat the write after a double click or a lost
 * response. If the latest request is still running, another call with the same input returns the response of that
 * request. If a request gets no response or a 5xx, the next call with the same input has the same Idempotency-Key,
 * provided that the operation takes one. Requests with a file are always sent, without a key.
 */
export function createDeduplicatedCall<Id extends OperationId>(id: Id, send: Send<Id> = callApi) {
  const sendsKey = OPERATIONS[id].idempotencyKey && !SHOWS_SECRET.includes(id);
  let running: { content: string; response: Promise<ResponseOf<Id>> } | undefined;
  let unresolved: { content: string; idempotencyKey: string } | undefined;

  const write = async (input: VersionedInput<Id>, content: string): Promise<ResponseOf<Id>> => {
    const idempotencyKey = unresolved?.content === content ? unresolved.idempotencyKey : crypto.randomUUID();
    try {
      const response = await send(id, input, sendsKey ? { idempotencyKey } : {});
      unresolved = undefined;
      return response;
    } catch (error) {
      const isLost = error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
      unresolved = isLost ? { content, idempotencyKey } : undefined;
      throw error;
    }
  };

  return (input: VersionedInput<Id>): Promise<ResponseOf<Id>> => {
    // A form with a file cannot be compared with an earlier one.
    if ((input as { body?: unknown }).body instanceof FormData) return callApi(id, input);
    const content = JSON.stringify(input);
    if (running?.content === content) return running.response;
    const response = write(input, content).finally(() => {
      if (running?.response === response) running = undefined;
    });
    running = { content, response };
    return response;
  };
}
