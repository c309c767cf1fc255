import { createVerify, X509Certificate } from 'node:crypto';
import { z } from 'zod';

/** A message that Amazon SNS posts (SNS Developer Guide, "Parsing Amazon SNS message formats"). */
export const SnsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Message: z.string(),
  Timestamp: z.string(),
  Subject: z.string().nullish(),
  SubscribeURL: z.string().optional(),
  Token: z.string().optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
});
export type SnsMessage = z.output<typeof SnsMessage>;

const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;
const ALGORITHM = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' } as const;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[\w-]{1,100}\.pem$/;

/**
 * Returns the address of a message's certificate, if it is SNS's own in the region of the topic. Other addresses may
 * belong to anyone, and are not fetched. Undefined otherwise.
 */
export function certificateUrl(message: SnsMessage): URL | undefined {
  const url = parseSnsUrl(message.SigningCertURL, message.TopicArn);
  return url && CERTIFICATE_PATH.test(url.pathname) && url.search === '' ? url : undefined;
}

/** Returns the address that confirms a subscription, if it is SNS's own. Undefined otherwise. */
export function confirmationUrl(message: SnsMessage): URL | undefined {
  const url = parseSnsUrl(message.SubscribeURL ?? '', message.TopicArn);
  return url?.searchParams.get('Action') === 'ConfirmSubscription' &&
    url.searchParams.get('TopicArn') === message.TopicArn
    ? url
    : undefined;
}

/** Tells whether SNS signed the message with this certificate (PEM), and whether the certificate is valid at `now`. */
export function isSnsSignature(message: SnsMessage, certificate: string, now: Date): boolean {
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(certificate);
    if (now < new Date(validFrom) || now > new Date(validTo)) return false;
    const verify = createVerify(ALGORITHM[message.SignatureVersion]).update(signedText(message), 'utf8');
    return verify.verify(publicKey, message.Signature, 'base64');
  } catch {
    return false; // Not a certificate, or one with another kind of key.
  }
}

/** Returns the signed text: names and values, each on its line. */
export function signedText(message: SnsMessage): string {
  return SIGNED[message.Type]
    .flatMap((name) => (typeof message[name] === 'string' ? [`${name}\n${message[name]}\n`] : []))
    .join('');
}

/** Parses an https URL of `sns.<region of the topic>.amazonaws.com`. Undefined if it may lead to another host. */
function parseSnsUrl(text: string, topicArn: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const [, partition, , region = ''] = topicArn.split(':');
  const host = `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
  const isPlain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  return isPlain && /^[a-z0-9-]+$/.test(region) && url.hostname === host ? url : undefined;
}
