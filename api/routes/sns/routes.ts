import { type OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import { findEmailIdByProviderId } from '../../../db/emails/provider-messages.ts';
import { noteSnsMessage, type SnsMessageKind } from '../../../db/operator/sns-subscriptions.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { emailIdOf } from '../../../rules/content/link-tokens.ts';
import { readSesNotification, type SesNotification } from '../../../rules/emails/ses-notification.ts';
import { certificateUrl, confirmationUrl, isSnsSignature, SnsMessage } from '../../../rules/emails/sns-message.ts';
import { emailIdOfVerp } from '../../../rules/emails/verp.ts';
import { AppError } from '../../../rules/errors.ts';
import { createFeedbackRecorder } from '../../accept/feedback-recorder.ts';
import { readBody } from '../../http/body.ts';
import { CERTIFICATE_FETCHES, REFUSED_CALLBACKS } from '../../http/caller-limits.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { AppEnv, RequestContext } from '../../http/env.ts';
import { respondWithError } from '../../http/error-handler.ts';
import { describeProviderCallback, type UnauthenticatedRoutes } from '../../http/registrar.ts';
import { createSnsCertificates, fetchFromSns } from './certificates.ts';

const PATH = '/webhooks/sns';
/** Without its envelope, a notification has no signature that proves its origin. */
const RAW_DELIVERY =
  'The SNS subscription has raw message delivery on. Switch off "Enable raw message delivery" in the subscription.';
const ARN_MAX_CHARS = 256;
/** Size limit of a message in SNS. */
const MESSAGE_MAX_BYTES = 256 * 1024;
/**
 * The id of an email that SES accepted more recently than this may be unknown because its sender has not committed
 * yet, so SNS must repeat the notification. By default SNS repeats after 20, 40 and 60 s. The last repetition gets a
 * normal response, so that notifications about other senders' email do not fail permanently.
 */
const SETTLING_MS = 60_000;
/**
 * The operator page shows when the last message arrived. A campaign causes thousands of messages per second, so not
 * every one is recorded.
 */
const NOTED_EVERY_MS = 60_000;

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
 * Handles the notifications of Amazon SES about our email, through SNS. Topic, address of the certificate and
 * signature are checked before anything is fetched or changed. SNS delivers at least once and in any order, which
 * `recordFeedback` handles; a 5xx makes it repeat. Notifications about other senders' email get a normal response,
 * because a topic may be shared. Source: contract §9, §10.
 */
export function snsRoutes(hono: OpenAPIHono<AppEnv>, unauthenticated: UnauthenticatedRoutes, deps: Deps): void {
  const { config, db, log } = deps;
  const certificates = createSnsCertificates();
  const recordFeedback = createFeedbackRecorder(deps);
  const verpKey = deriveKey(config.secretKey, 'verp');

  const notedMs = new Map<string, number>();
  /** Records for the operator page that a message of a topic in SNS_TOPIC_ARNS arrived, at most once per minute. */
  async function note(topic: string, kind: SnsMessageKind): Promise<void> {
    const key = `${kind} ${topic}`;
    const isNew = Date.now() - (notedMs.get(key) ?? 0) >= NOTED_EVERY_MS;
    if (!isNew || !config.email.ses.snsTopicArns.includes(topic)) return;
    notedMs.set(key, Date.now());
    await noteSnsMessage(db, { topic, kind });
  }

  async function verifyMessage(c: RequestContext): Promise<SnsMessage> {
    const text = Buffer.from(await readBody(c, MESSAGE_MAX_BYTES)).toString('utf8');
    const body = jsonOf(text);
    const parsed = SnsMessage.safeParse(body);
    if (!parsed.success && (c.req.header('x-amz-sns-rawdelivery') === 'true' || isSesNotification(body))) {
      const topic = c.req.header('x-amz-sns-topic-arn')?.slice(0, ARN_MAX_CHARS) ?? '';
      log.warn({ topic }, RAW_DELIVERY);
      await note(topic, 'refused');
      throw refuseMessage(RAW_DELIVERY);
    }
    if (!parsed.success) throw refuseMessage('The body is not an SNS message.');
    const message = parsed.data;
    if (!config.email.ses.snsTopicArns.includes(message.TopicArn))
      throw refuseMessage('This topic is not in SNS_TOPIC_ARNS.');
    const url = certificateUrl(message);
    if (!url) throw refuseMessage('The URL of the certificate does not belong to SNS.');
    const takeFetch = () => deps.limits.takeForUnauthenticated(clientAddress(c), CERTIFICATE_FETCHES);
    const certificate = await certificates.get(url, takeFetch).catch((cause) => {
      if (cause instanceof AppError) throw cause;
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'The certificate of SNS could not be fetched.', cause });
    });
    if (!isSnsSignature(message, certificate, new Date()))
      throw refuseMessage('The signature of this callback is not valid.');
    return message;
  }

  /** Records a notification. Returns false if the email is not known yet and SNS must repeat the notification. */
  async function record(notification: SesNotification): Promise<boolean> {
    const { feedback, sesMessageId, acceptedAt } = notification;
    const emailId = await emailIdOfMail(notification);
    if (emailId === undefined && acceptedAt && Date.now() - acceptedAt.getTime() < SETTLING_MS) return false;
    const result = emailId && (await recordFeedback({ emailId, feedback, source: 'ses' }));
    if (!result || result.outcome === 'unknown')
      log.info({ kind: feedback.kind, emailId, sesMessageId }, 'SES reported an unknown email');
    return true;
  }

  /**
   * Returns the id of the email that a notification is about. Tries this service's own id first, which is known as
   * soon as the email exists. SES's id is always in the notification, but is known only after the email is SENT.
   */
  async function emailIdOfMail(notification: SesNotification): Promise<string | undefined> {
    const { messageId = '', source = '', taggedId, sesMessageId } = notification;
    const emailId = emailIdOf(messageId) ?? emailIdOfVerp(verpKey, source) ?? taggedId;
    return emailId ?? (sesMessageId === undefined ? undefined : findEmailIdByProviderId(db, sesMessageId));
  }

  describeProviderCallback(hono, snsRoute, ['FORBIDDEN', 'PAYLOAD_TOO_LARGE', 'SERVICE_UNAVAILABLE']);
  const receive = async (c: RequestContext): Promise<Response> => {
    const message = await verifyMessage(c);
    if (message.Type === 'SubscriptionConfirmation') {
      const url = confirmationUrl(message);
      if (!url) throw refuseMessage('The confirmation URL does not belong to SNS.');
      await fetchFromSns(url);
      log.info({ topic: message.TopicArn }, 'the subscription to the SNS topic is confirmed');
      await note(message.TopicArn, 'confirmed');
    } else if (message.Type === 'Notification') {
      await note(message.TopicArn, 'notified');
      const notification = readSesNotification(message.Message, new Date());
      // The error is returned, not thrown, so that it is not logged.
      if (notification && !(await record(notification))) return respondWithError(c, emailNotKnownYet());
    }
    return c.body(null, 200);
  };
  unauthenticated.post(PATH, receive, { refusedLimit: REFUSED_CALLBACKS });
}

function emailNotKnownYet(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', { message: 'This email is not known yet.' });
}

function refuseMessage(message: string): AppError {
  return new AppError('FORBIDDEN', { message });
}

/** Tells whether a body is a notification of SES without the envelope of SNS. */
function isSesNotification(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('notificationType' in body || 'eventType' in body);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
