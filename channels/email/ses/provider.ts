import type { SESv2Client } from '@aws-sdk/client-sesv2';
import { SES_EMAIL_TAG } from '../../../rules/emails/ses-notification.ts';
import type { EmailProvider, OutgoingEmail, ProviderResult } from '../provider.ts';
import { requestProvider } from '../request-provider.ts';
import { sesFailure } from './failure.ts';

const CONNECT_MS = 10_000;
/** A large message over a slow connection takes long, and a timeout would leave it in doubt. */
const REQUEST_MS = 120_000;
/** The handler's own limit, below the caller's limit of messages in flight. */
const MAX_SOCKETS = 50;

export interface SesOptions {
  region: string;
  /** Another server with the same API, for tests. Credentials come from AWS's own variables. */
  endpoint?: string | undefined;
}

/**
 * Sends raw messages by SESv2 SendEmail. The SDK is loaded with the first message, which takes 100 ms and 20 MB. Its
 * own retries are off, because they would repeat a message whose response was lost.
 */
export function sesProvider(options: SesOptions): EmailProvider {
  let client: Promise<SESv2Client> | null = null;
  return requestProvider({
    kind: 'ses',
    send: (message, signal) => {
      client ??= openClient(options);
      return sendRaw(client, message, signal);
    },
    close: async () => (await client)?.destroy(),
  });
}

async function openClient({ region, endpoint }: SesOptions): Promise<SESv2Client> {
  const { SESv2Client } = await import('@aws-sdk/client-sesv2');
  const requestHandler = {
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    httpAgent: { maxSockets: MAX_SOCKETS },
    httpsAgent: { maxSockets: MAX_SOCKETS },
  };
  return new SESv2Client({ region, endpoint, maxAttempts: 1, requestHandler });
}

async function sendRaw(
  client: Promise<SESv2Client>,
  message: OutgoingEmail,
  signal: AbortSignal | undefined,
): Promise<ProviderResult> {
  const data = typeof message.raw === 'string' ? Buffer.from(message.raw, 'latin1') : message.raw;
  const input = {
    Destination: { ToAddresses: [message.to] },
    Content: { Raw: { Data: data } },
    // Every event that SES publishes repeats these tags.
    EmailTags: [
      { Name: SES_EMAIL_TAG, Value: message.id },
      { Name: 'project_id', Value: message.projectId },
    ],
  };
  try {
    const { SendEmailCommand } = await import('@aws-sdk/client-sesv2');
    const { MessageId } = await (await client).send(new SendEmailCommand(input), { abortSignal: signal });
    return { outcome: 'accepted', providerMessageId: MessageId ?? null, reply: `SES ${MessageId ?? ''}`.trim() };
  } catch (error) {
    return sesFailure(error);
  }
}
