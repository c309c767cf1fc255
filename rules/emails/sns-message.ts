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

const SIGNED_FIELDS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;
const ALGORITHM = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' } as const;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[\w-]{1,100}\.pem$/;

/**
 * Returns the address of a message's certificate, if it is an address of SNS in the topic's region. Undefined for any
 * other address, because it may belong to anyone and must not be fetched.
 */
export function findCertificateUrl(message: SnsMessage): URL | undefined {
  const url = parseSnsUrl(message.SigningCertURL, message.TopicArn);
  return url && CERTIFICATE_PATH.test(url.pathname) && url.search === '' ? url : undefined;
}

/** Returns the address that confirms a subscription, if it is an address of SNS. Undefined for any other address. */
export function findConfirmationUrl(message: SnsMessage): URL | undefined {
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
    const verify = createVerify(ALGORITHM[message.SignatureVersion]).update(buildTextToSign(message), 'utf8');
    return verify.verify(publicKey, message.Signature, 'base64');
  } catch {
    return false; // The text is not a certificate, or the certificate has another kind of key.
  }
}

/** Returns the text that SNS signs: names and values, each on its own line. */
export function buildTextToSign(message: SnsMessage): string {
  return SIGNED_FIELDS[message.Type]
    .flatMap((name) => (typeof message[name] === 'string' ? [`${name}\n${message[name]}\n`] : []))
    .join('');
}

/** Parses an https URL of `sns.<region of the topic>.amazonaws.com`. Undefined for any other URL. */
function parseSnsUrl(text: string, topicArn: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const [, partition, , region = ''] = topicArn.split(':');
  const host = `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
  const isPlain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  return isPlain && /^[a-z0-9-]+$/.test(region) && url.hostname === host ? url : undefined;
}
