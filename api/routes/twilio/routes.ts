import { type OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { recordSmsReport, setSmsConsent } from '../../../db/sms/ledger.ts';
import { addProviderStop } from '../../../db/sms/stops.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { type ReceivedMedia, recordReceivedSms } from '../../../engine/feedback/received-sms.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { AppError } from '../../../rules/errors.ts';
import { findConsentWord } from '../../../rules/sms/consent-word.ts';
import { toTwilioRefusal } from '../../../rules/sms/refusal.ts';
import type { SmsStatus } from '../../../rules/sms/status.ts';
import { isTwilioSignature } from '../../../rules/sms/twilio-signature.ts';
import { readBody } from '../../http/body.ts';
import { REFUSED_CALLBACKS } from '../../http/caller-limits.ts';
import type { Deps } from '../../http/deps.ts';
import type { AppEnv } from '../../http/env.ts';
import { describeProviderCallback, type UnauthenticatedRoutes } from '../../http/registrar.ts';
import { emptyResponse } from '../../http/responses.ts';

/** Far larger than any callback of Twilio. */
const CALLBACK_MAX_BYTES = 64 * 1024;
/** The maximum number of files that Twilio accepts in an MMS. */
const MEDIA_MAX = 10;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Statuses of this service for Twilio's message statuses. Other statuses of Twilio (accepted, sending …) are ignored.
 */
const STATUS_OF: Record<string, SmsStatus> = {
  queued: 'QUEUED',
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'DELIVERED',
  undelivered: 'UNDELIVERED',
  failed: 'FAILED',
  canceled: 'FAILED',
};

const signedBy = z.object({ 'X-Twilio-Signature': z.string().openapi({ description: "Twilio's signature" }) });
const form = (schema: z.ZodType) => ({ content: { 'application/x-www-form-urlencoded': { schema } } });

const statusRoute: RouteConfig = {
  method: 'post',
  path: '/webhooks/twilio/status',
  operationId: 'receiveTwilioStatus',
  tags: ['Callbacks'],
  summary: 'Receive the status of an SMS from Twilio',
  description: 'Only requests signed by Twilio have an effect.',
  request: {
    headers: signedBy,
    query: z.object({ id: z.string().optional().openapi({ description: 'Id of the SMS in this service' }) }),
    body: form(z.object({ MessageSid: z.string(), MessageStatus: z.string(), ErrorCode: z.string().optional() })),
  },
  responses: { 204: emptyResponse('Accepted') },
};

const InboundMessage = z.object({
  From: z.string(),
  To: z.string(),
  Body: z.string(),
  NumMedia: z
    .string()
    .optional()
    .openapi({ description: 'Number of files of an MMS: `MediaUrl0`, `MediaContentType0` …' }),
});

const inboundRoute: RouteConfig = {
  method: 'post',
  path: '/webhooks/twilio/inbound',
  operationId: 'receiveTwilioMessage',
  tags: ['Callbacks'],
  summary: 'Receive an SMS from Twilio',
  description:
    'Records the event `sms.received`. STOP and START change the consent to SMS. Only requests signed by Twilio have an effect.',
  request: { headers: signedBy, body: form(InboundMessage) },
  responses: { 200: { description: 'An empty TwiML response', content: { 'text/xml': { schema: z.string() } } } },
};

/**
 * Registers Twilio's callbacks: delivery status, and replies of recipients (STOP and START). Source: contract §10.3
 * SMS consent.
 */
export function registerTwilioRoutes(
  hono: OpenAPIHono<AppEnv>,
  unauthenticated: UnauthenticatedRoutes,
  { config, db, outbox }: Deps,
): void {
  const key = deriveKey(config.secretKey, 'suppression');

  const post = (path: string, handle: (c: Context<AppEnv>, params: Record<string, string>) => Promise<Response>) => {
    unauthenticated.post(path, async (c) => handle(c, await readSignedParams(c, config)), {
      refusedLimit: REFUSED_CALLBACKS,
    });
  };

  describeProviderCallback(hono, statusRoute, ['FORBIDDEN', 'PAYLOAD_TOO_LARGE']);
  describeProviderCallback(hono, inboundRoute, ['FORBIDDEN', 'PAYLOAD_TOO_LARGE']);

  post('/webhooks/twilio/status', async (c, params) => {
    const status = STATUS_OF[params.MessageStatus ?? params.SmsStatus ?? ''];
    const providerMessageId = params.MessageSid ?? params.SmsSid ?? '';
    const id = c.req.query('id');
    if (status && providerMessageId) {
      const error = params.ErrorCode ? `Twilio ${params.ErrorCode} ${params.ErrorMessage ?? ''}`.trim() : null;
      const reason = toTwilioRefusal(params.ErrorCode);
      const report = { id: id && UUID.test(id) ? id : undefined, providerMessageId, status, reason, error };
      const sms = await recordSmsReport(db, report);
      // Twilio refused the SMS because the person sent STOP, but this service has not received that STOP.
      if (sms && reason === 'sms_stopped' && sms.to !== '') {
        await inTransaction(db, (trx) => addProviderStop(trx, key, sms));
      }
    }
    return c.body(null, 204);
  });

  post('/webhooks/twilio/inbound', async (c, params) => {
    const { From: phone, To: sender, Body: body = '' } = params;
    const consent = findConsentWord(params.OptOutType ?? '') ?? findConsentWord(body) ?? null;
    if (phone && sender) {
      const messageId = params.MessageSid ?? params.SmsSid ?? null;
      const queued = await inTransaction(db, async (trx) => {
        const sms = { from: phone, to: sender, text: body, messageId, media: readMedia(params), consent };
        const { projectIds, outbox: rows } = await recordReceivedSms(trx, sms);
        // Twilio repeats a callback that got no response. A repeated START must not end a STOP that the person sent
        // later, so consent is set only if this SMS is new.
        if (consent) await setSmsConsent(trx, key, { phone, sender, consents: consent === 'start', projectIds });
        return rows;
      });
      outbox.wake(queued);
    }
    // The response contains no reply to the person, because Twilio itself confirms STOP and START.
    return c.body('<?xml version="1.0" encoding="UTF-8"?><Response></Response>', 200, { 'content-type': 'text/xml' });
  });
}

/** Returns the files of an MMS; an empty array for an SMS. */
function readMedia(params: Record<string, string>): ReceivedMedia[] {
  const count = Math.min(MEDIA_MAX, Number(params.NumMedia) || 0);
  return Array.from({ length: count }, (_, at) => ({
    url: params[`MediaUrl${at}`] ?? '',
    contentType: params[`MediaContentType${at}`] ?? '',
  })).filter(({ url }) => url !== '');
}

/**
 * Returns the parameters of a callback that Twilio signed.
 * @throws AppError FORBIDDEN for any other request
 */
async function readSignedParams(c: Context<AppEnv>, config: Deps['config']): Promise<Record<string, string>> {
  const authToken = config.sms.twilio.authToken;
  const text = Buffer.from(await readBody(c, CALLBACK_MAX_BYTES)).toString('utf8');
  const params = Object.fromEntries(new URLSearchParams(text));
  const { pathname, search } = new URL(c.req.url);
  // Twilio signs the URL that it called, which starts with PUBLIC_URL. A proxy may have changed the URL of the request.
  const url = `${config.publicUrl}${pathname}${search}`;
  if (authToken && isTwilioSignature({ authToken, url, params }, c.req.header('x-twilio-signature')))
    return removeNulCharacters(params);
  throw new AppError('FORBIDDEN', { message: 'The signature of this callback is not valid.' });
}

/**
 * Removes NUL characters, which Postgres cannot store. Otherwise the callback would fail, and Twilio would repeat it.
 */
function removeNulCharacters(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.replaceAll('\0', '')]));
}
