import type { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { SES_EMAIL_TAG } from '../../../rules/emails/ses-notification.ts';
import { describeFailure } from '../../../rules/failure-text.ts';
import { createSharedPromise, type SharedPromise } from '../../../rules/shared-promise.ts';
import type { EmailProvider, OutgoingEmail, ProviderResult } from '../provider.ts';
import { createRequestProvider } from '../request-provider.ts';
import { toSesResult } from './failure.ts';

const CONNECT_MS = 10_000;
/**
 * The time limit of a request. The limit is high, because a large message over a slow connection takes long. After a
 * timeout, it is unknown whether SES has sent the message.
 */
const REQUEST_MS = 120_000;
/**
 * The maximum number of connections. This number is below the caller's limit of messages in flight, so some requests
 * wait for a connection.
 */
const MAX_SOCKETS = 50;

export interface SesOptions {
  region: string;
  /** The address of another server with the same API, for tests. */
  endpoint?: string | undefined;
}

/**
 * Creates a provider that sends messages with the operation SendEmail of SESv2. The SDK is loaded with the first
 * message, because loading takes 100 ms and 20 MB of memory. The SDK's retries are switched off, because a retry after
 * a lost response would send the message twice. The SDK finds the credentials itself, for example in the environment
 * variables of AWS.
 */
export function createSesProvider(options: SesOptions): EmailProvider {
  const sdk = createSharedPromise(() => loadSdk(options));
  return createRequestProvider({
    kind: 'ses',
    send: (message, signal) => sendRaw(sdk, message, signal),
    close: async () => (await sdk.current)?.client.destroy(),
  });
}

interface Sdk {
  client: SESv2Client;
  SendEmailCommand: typeof SendEmailCommand;
}

async function loadSdk({ region, endpoint }: SesOptions): Promise<Sdk> {
  const { SESv2Client, SendEmailCommand } = await import('@aws-sdk/client-sesv2');
  const requestHandler = {
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    httpAgent: { maxSockets: MAX_SOCKETS },
    httpsAgent: { maxSockets: MAX_SOCKETS },
  };
  return { client: new SESv2Client({ region, endpoint, maxAttempts: 1, requestHandler }), SendEmailCommand };
}

async function sendRaw(
  sdk: SharedPromise<Sdk>,
  message: OutgoingEmail,
  signal: AbortSignal | undefined,
): Promise<ProviderResult> {
  const data = typeof message.raw === 'string' ? Buffer.from(message.raw, 'latin1') : message.raw;
  const input = {
    Destination: { ToAddresses: [message.to] },
    Content: { Raw: { Data: data } },
    // SES repeats these tags in every event about the email.
    EmailTags: [
      { Name: SES_EMAIL_TAG, Value: message.id },
      { Name: 'project_id', Value: message.projectId },
    ],
  };
  let loaded: Sdk;
  try {
    loaded = await sdk.get();
  } catch (error) {
    return { outcome: 'unsent', error: `the SDK of SES could not be loaded: ${describeFailure(error as Error)}` };
  }
  const { client, SendEmailCommand } = loaded;
  try {
    const { MessageId } = await client.send(new SendEmailCommand(input), { abortSignal: signal });
    return { outcome: 'accepted', providerMessageId: MessageId ?? null, reply: `SES ${MessageId ?? ''}`.trim() };
  } catch (error) {
    return toSesResult(error);
  }
}
