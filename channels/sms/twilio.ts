import type { Twilio } from 'twilio';
import { createSharedPromise, type SharedPromise } from '../../rules/shared-promise.ts';
import { toTwilioRefusal } from '../../rules/sms/refusal.ts';
import type { OutgoingSms, SmsProvider, SmsResult } from './provider.ts';

/** Twilio responds in tens of milliseconds. A request that takes longer than this is aborted and retried later. */
const REQUEST_MS = 20_000;

export interface TwilioOptions {
  accountSid: string;
  authToken: string;
  /** The address of another server with the same API, for tests. */
  baseUrl?: string | undefined;
  /** Returns the URL to which Twilio sends the status callbacks of an SMS. */
  statusCallback: (smsId: string) => string;
}

/**
 * Creates a provider that sends SMS through Twilio's SDK. The SDK is loaded with the first message, because loading
 * takes a third of a second.
 */
export function createTwilioProvider(options: TwilioOptions): SmsProvider {
  const client = createSharedPromise(() => openClient(options));
  return {
    kind: 'twilio',
    send: (sms) => sendSms(client, sms, options.statusCallback(sms.id)),
  };
}

async function openClient({ accountSid, authToken, baseUrl }: TwilioOptions): Promise<Twilio> {
  const { default: twilio } = await import('twilio');
  // The SDK's own retries are off, because they could send an SMS twice.
  const client = twilio(accountSid, authToken, { autoRetry: false, timeout: REQUEST_MS });
  if (baseUrl) client.api.baseUrl = baseUrl;
  return client;
}

async function sendSms(client: SharedPromise<Twilio>, sms: OutgoingSms, statusCallback: string): Promise<SmsResult> {
  try {
    const { messages } = await client.get();
    const { sid, status } = await messages.create({
      from: sms.from,
      to: sms.to,
      body: sms.body,
      statusCallback,
    });
    if (status === 'failed' || status === 'undelivered')
      return { outcome: 'refused', reason: 'provider_rejected', error: `Twilio: ${status}` };
    return { outcome: 'accepted', providerMessageId: sid, status: status === 'sent' ? 'SENT' : 'QUEUED' };
  } catch (error) {
    return toFailedResult(error);
  }
}

/**
 * Converts an error of Twilio into a result. A 4xx status means that Twilio refuses the message. The statuses 401, 403,
 * 408, 425 and 429 are exceptions: they are about our account, our rate or the time, so the SMS is sent again later. It
 * is also sent again after a 5xx status and without a response. In these cases Twilio may have the SMS. If Twilio
 * reports its status before the next attempt, that attempt sends nothing.
 */
function toFailedResult(error: unknown): SmsResult {
  const { status, code, message } = parseTwilioError(error);
  const codes = `${status ?? 'no response'}${code ? ` (${code})` : ''}`;
  const errorText = `Twilio ${codes}: ${message}`;
  const retriedStatuses = [401, 403, 408, 425, 429];
  if (status !== undefined && status >= 400 && status < 500 && !retriedStatuses.includes(status))
    return { outcome: 'refused', reason: toTwilioRefusal(code), error: errorText };
  return { outcome: 'later', error: errorText, status: codes };
}

function parseTwilioError(error: unknown): { status?: number; code?: number; message: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const status: unknown = Reflect.get(error, 'status');
  const code: unknown = Reflect.get(error, 'code');
  return {
    message: error.message,
    ...(typeof status === 'number' && { status }),
    ...(typeof code === 'number' && { code }),
  };
}
