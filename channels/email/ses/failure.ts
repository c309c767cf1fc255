import type { SessionStage } from '../../../rules/emails/refusal.ts';
import type { ProviderResult } from '../provider.ts';
import { buildRefusal } from '../smtp/refusal.ts';

/**
 * Maps each named error of SES to the SMTP reply with the same meaning: its stage, code and enhanced code. The same
 * rules (rules/emails/refusal.ts) then classify the refusals of SES and of mail servers. Errors with the stages
 * `connect` and `auth` are about our account, not about the message. `convertError` converts other errors by their HTTP
 * status.
 */
const SMTP_REPLIES: Record<string, readonly [SessionStage, number, string]> = {
  TooManyRequestsException: ['connect', 421, '4.7.0'],
  ThrottlingException: ['connect', 421, '4.7.0'],
  LimitExceededException: ['connect', 421, '4.7.0'],
  SendingPausedException: ['auth', 454, '4.7.0'],
  AccountSuspendedException: ['auth', 535, '5.7.0'],
  NotFoundException: ['auth', 535, '5.3.5'],
  MailFromDomainNotVerifiedException: ['mail', 550, '5.7.1'],
  MessageRejected: ['message', 554, '5.6.0'],
  BadRequestException: ['message', 554, '5.6.0'],
};

/**
 * Errors that occur before the request reaches the server: an unknown host, a closed port, or missing credentials. The
 * message was then certainly not sent.
 */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CredentialsProviderError',
]);

/**
 * Converts an error of the SDK into a result. If SES has responded, the result is a refusal. If SES has not responded,
 * the result is `unsent`, or `in_doubt` if SES may have received the message.
 */
export function toSesResult(error: unknown): ProviderResult {
  const result = convertError(readErrorParts(error));
  const { name } = readErrorParts(error);
  return result.outcome === 'refused' && /^[A-Za-z]{1,60}$/.test(name) ? { ...result, type: name } : result;
}

function convertError({ name, message, code, status }: ReturnType<typeof readErrorParts>): ProviderResult {
  if (name === 'MessageRejected' && /not verified/i.test(message)) return buildRefusal('mail', 550, `5.7.1 ${message}`);
  const reply = SMTP_REPLIES[name];
  if (reply) return buildRefusal(reply[0], reply[1], `${reply[2]} ${message}`);
  if (status === 429 || (status !== null && status >= 500))
    return buildRefusal('connect', 421, `4.3.0 ${name}: ${message}`);
  if (status === 401 || status === 403) return buildRefusal('auth', 535, `5.7.8 ${name}: ${message}`);
  if (status !== null && status >= 400) return buildRefusal('message', 554, `5.6.0 ${name}: ${message}`);
  const outcome = BEFORE_SENDING.has(code) || BEFORE_SENDING.has(name) ? 'unsent' : 'in_doubt';
  return { outcome, error: `${name}: ${message}` };
}

interface SdkError {
  name?: string;
  message?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

function readErrorParts(error: unknown): { name: string; message: string; code: string; status: number | null } {
  const sdk: SdkError = typeof error === 'object' && error !== null ? error : {};
  return {
    name: sdk.name ?? 'Error',
    message: sdk.message ?? String(error),
    code: sdk.code ?? '',
    status: sdk.$metadata?.httpStatusCode ?? null,
  };
}
