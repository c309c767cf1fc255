import { type OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import { findEmailIdByProviderId } from '../../../db/emails/provider-messages.ts';
import { recordSnsMessage, type SnsMessageKind } from '../../../db/operator/sns-subscriptions.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { parseMessageId } from '../../../rules/content/link-tokens.ts';
import { readSesNotification, type SesNotification } from '../../../rules/emails/ses-notification.ts';
import {
  findCertificateUrl,
  findConfirmationUrl,
  isSnsSignature,
  SnsMessage,
} from '../../../rules/emails/sns-message.ts';
import { parseVerpAddress } from '../../../rules/emails/verp.ts';
import { AppError } from '../../../rules/errors.ts';
import { createFeedbackRecorder } from '../../accept/feedback-recorder.ts';
import { readBody } from '../../http/body.ts';
import { CERTIFICATE_FETCHES, REFUSED_CALLBACKS } from '../../http/caller-limits.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { AppEnv, RequestContext } from '../../http/env.ts';
import { respondWithError } from '../../http/error-handler.ts';
import { describeProviderCallback, type UnauthenticatedRoutes } from '../../http/registrar.ts';
import { createSnsCertificates, fetchFromSns } from './certificates.ts';

const PATH = '/webhooks/sns';
/**
 * Error text for messages of a subscription with raw message delivery. These messages lack the envelope of SNS with the
 * signature, so their origin cannot be verified.
 */
const RAW_DELIVERY =
  'The SNS subscription has raw message delivery on. Switch off "Enable raw message delivery" in the subscription.';
const ARN_MAX_CHARS = 256;
/** Size limit of a message in SNS. */
const MESSAGE_MAX_BYTES = 256 * 1024;
/**
 * If SES accepted an unknown email less than this time ago, the worker may not have stored SES's id of the email yet.
 * SNS must then repeat the notification. By default, SNS repeats it after 20, 40 and 60 s. If SES accepted the email
 * earlier, the response is 200, because another service that uses the same topic has probably sent the email.
 */
const SETTLING_MS = 60_000;
/**
 * Interval at which the arrival of a message is recorded, for the operator's page. A campaign can cause thousands of
 * messages per second, so recording each of them would be too expensive.
 */
const ARRIVAL_INTERVAL_MS = 60_000;

const snsRoute: RouteConfig = {
  method: 'post',
  path: PATH,
  operationId: 'receiveSnsMessage',
  tags: ['Callbacks'],
  summary: 'Receive notifications from Amazon SES',
  description:
    'Handles deliveries, bounces and complaints from the topics in `SNS_TOPIC_ARNS`. Subscriptions are confirmed automatically. Only messages signed by Amazon SNS have an effect.',
  request: {
    body: { content: { 'text/plain': { schema: z.string().openapi({ description: 'An SNS message, as JSON' }) } } },
  },
  responses: { 200: { description: 'Accepted' } },
};

/**
 * Handles notifications of Amazon SES, which arrive through SNS. Before the certificate is fetched, the topic and the
 * URL of the certificate are checked. Before a message has an effect, its signature is checked. SNS may deliver a
 * notification several times and in any order, which `recordFeedback` handles. After a 5xx, SNS repeats the
 * notification. A notification about an unknown email gets a 200 after `SETTLING_MS`, because other services may use
 * the same topic. Source: contract §9, §10.
 */
export function registerSnsRoutes(hono: OpenAPIHono<AppEnv>, unauthenticated: UnauthenticatedRoutes, deps: Deps): void {
  const { config, db, log } = deps;
  const certificates = createSnsCertificates();
  const recordFeedback = createFeedbackRecorder(deps);
  const verpKey = deriveKey(config.secretKey, 'verp');

  const arrivalMs = new Map<string, number>();
  /** Records for the operator page that a message of a topic in SNS_TOPIC_ARNS arrived, at most once per minute. */
  async function recordArrival(topic: string, kind: SnsMessageKind): Promise<void> {
    const key = `${kind} ${topic}`;
    const isNew = Date.now() - (arrivalMs.get(key) ?? 0) >= ARRIVAL_INTERVAL_MS;
    if (!isNew || !config.email.ses.snsTopicArns.includes(topic)) return;
    arrivalMs.set(key, Date.now());
    await recordSnsMessage(db, { topic, kind });
  }

  async function verifyMessage(c: RequestContext): Promise<SnsMessage> {
    const text = Buffer.from(await readBody(c, MESSAGE_MAX_BYTES)).toString('utf8');
    const body = parseJsonOrUndefined(text);
    const parsed = SnsMessage.safeParse(body);
    if (!parsed.success && (c.req.header('x-amz-sns-rawdelivery') === 'true' || isSesNotification(body))) {
      const topic = c.req.header('x-amz-sns-topic-arn')?.slice(0, ARN_MAX_CHARS) ?? '';
      log.warn({ topic }, RAW_DELIVERY);
      await recordArrival(topic, 'refused');
      throw createForbiddenError(RAW_DELIVERY);
    }
    if (!parsed.success) throw createForbiddenError('The body is not an SNS message.');
    const message = parsed.data;
    if (!config.email.ses.snsTopicArns.includes(message.TopicArn))
      throw createForbiddenError('This topic is not in SNS_TOPIC_ARNS.');
    const url = findCertificateUrl(message);
    if (!url) throw createForbiddenError('The URL of the certificate does not belong to SNS.');
    const takeFetch = () => deps.limits.takeForUnauthenticated(readClientAddress(c), CERTIFICATE_FETCHES);
    const certificate = await certificates.get(url, takeFetch).catch((cause) => {
      if (cause instanceof AppError) throw cause;
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'The certificate of SNS could not be fetched.', cause });
    });
    if (!isSnsSignature(message, certificate, new Date()))
      throw createForbiddenError('The signature of this callback is not valid.');
    return message;
  }

  /**
   * Records a notification. Returns false if SES's id of the email may not be stored yet, so that SNS must repeat the
   * notification.
   */
  async function recordNotification(notification: SesNotification): Promise<boolean> {
    const { feedback, sesMessageId, acceptedAt } = notification;
    const emailId = await findEmailId(notification);
    if (emailId === undefined && acceptedAt && Date.now() - acceptedAt.getTime() < SETTLING_MS) return false;
    const result = emailId && (await recordFeedback({ emailId, feedback, source: 'ses' }));
    if (!result || result.outcome === 'unknown')
      log.info({ kind: feedback.kind, emailId, sesMessageId }, 'SES reported an unknown email');
    return true;
  }

  /**
   * Returns the id of the email that a notification is about. Looks first for an id of this service in the
   * notification, because such an id is known before the email is sent. The id that SES gave the email is stored only
   * when the email is SENT.
   */
  async function findEmailId(notification: SesNotification): Promise<string | undefined> {
    const { messageId = '', source = '', taggedId, sesMessageId } = notification;
    const emailId = parseMessageId(messageId) ?? parseVerpAddress(verpKey, source) ?? taggedId;
    return emailId ?? (sesMessageId === undefined ? undefined : findEmailIdByProviderId(db, sesMessageId));
  }

  describeProviderCallback(hono, snsRoute, ['FORBIDDEN', 'PAYLOAD_TOO_LARGE', 'SERVICE_UNAVAILABLE']);
  const receive = async (c: RequestContext): Promise<Response> => {
    const message = await verifyMessage(c);
    if (message.Type === 'SubscriptionConfirmation') {
      const url = findConfirmationUrl(message);
      if (!url) throw createForbiddenError('The confirmation URL does not belong to SNS.');
      await fetchFromSns(url);
      log.info({ topic: message.TopicArn }, 'the subscription to the SNS topic is confirmed');
      await recordArrival(message.TopicArn, 'confirmed');
    } else if (message.Type === 'Notification') {
      await recordArrival(message.TopicArn, 'notified');
      const notification = readSesNotification(message.Message, new Date());
      // The error is returned, not thrown, so that it is not logged.
      if (notification && !(await recordNotification(notification)))
        return respondWithError(c, createUnknownEmailError());
    }
    return c.body(null, 200);
  };
  unauthenticated.post(PATH, receive, { refusedLimit: REFUSED_CALLBACKS });
}

function createUnknownEmailError(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', { message: 'This email is not known yet.' });
}

function createForbiddenError(message: string): AppError {
  return new AppError('FORBIDDEN', { message });
}

/** Tells whether a body is a notification of SES without the envelope of SNS. */
function isSesNotification(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('notificationType' in body || 'eventType' in body);
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
