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
 * Creates a write that takes effect once, however often its button is pressed. A second call with the same input
 * returns the response of the running request. If a request gets no response or a 5xx, the next call with the same
 * input has the same Idempotency-Key, so its effect is not repeated.
 */
export function createOneShot<Id extends OperationId>(id: Id, send: Send<Id> = callApi) {
  const takesKey = OPERATIONS[id].idempotencyKey && !SHOWS_SECRET.includes(id);
  let underWay: { content: string; response: Promise<ResponseOf<Id>> } | undefined;
  let unanswered: { content: string; idempotencyKey: string } | undefined;

  const write = async (input: VersionedInput<Id>, content: string): Promise<ResponseOf<Id>> => {
    const idempotencyKey = unanswered?.content === content ? unanswered.idempotencyKey : crypto.randomUUID();
    try {
      const response = await send(id, input, takesKey ? { idempotencyKey } : {});
      unanswered = undefined;
      return response;
    } catch (error) {
      const isLost = error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
      unanswered = isLost ? { content, idempotencyKey } : undefined;
      throw error;
    }
  };

  return (input: VersionedInput<Id>): Promise<ResponseOf<Id>> => {
    // A form with a file cannot be compared with an earlier one.
    if ((input as { body?: unknown }).body instanceof FormData) return callApi(id, input);
    const content = JSON.stringify(input);
    if (underWay?.content === content) return underWay.response;
    const response = write(input, content).finally(() => {
      if (underWay?.response === response) underWay = undefined;
    });
    underWay = { content, response };
    return response;
  };
}
