import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AppEnv } from '../http/env.ts';
import { EmailAddressResponse, EXAMPLE_ID, Id, Instant } from '../http/schemas.ts';
import { capitalize } from './json.ts';

const AT = '2026-01-01T12:00:00.000Z';

/** Fields in every event about an email. Source: contract §8.2 Events of the service. */
const email = {
  subject: z.string(),
  from: z.string(),
  fromName: z.string().nullable(),
  messageId: z.string(),
  emailId: Id,
  templateId: Id.nullable(),
  campaignId: Id.nullable(),
  sourceType: z.string(),
};
const EMAIL = {
  subject: 'Your order 4711',
  from: 'shop@shop.example.com',
  fromName: 'Shop',
  messageId: `<${EXAMPLE_ID}@shop.example.com>`,
  emailId: EXAMPLE_ID,
  templateId: null,
  campaignId: null,
  sourceType: 'TRANSACTIONAL',
};
const topic = { topicId: Id, topic: z.string().openapi({ description: 'Slug of the topic' }), name: z.string() };
const TOPIC = { topicId: EXAMPLE_ID, topic: 'product-news', name: 'Product news' };
const segment = { segmentId: Id, segmentName: z.string() };
const SEGMENT = { segmentId: EXAMPLE_ID, segmentName: 'VIP' };

/** An event that the service sends to webhooks, as the document describes it. */
interface Documented {
  name: string;
  /** An example of the name, if `name` is a pattern. */
  sample?: string;
  summary: string;
  data: z.ZodRawShape;
  example: Record<string, unknown>;
}

/** The events in the document. Source: contract §8.2 and §8.8. */
const EVENTS: Documented[] = [
  {
    name: 'email.sent',
    summary: 'An email was sent',
    data: { ...email, sentAt: Instant },
    example: { ...EMAIL, sentAt: AT },
  },
  {
    name: 'email.delivery',
    summary: "The recipient's mail server accepted an email",
    data: { ...email, deliveredAt: Instant },
    example: { ...EMAIL, deliveredAt: AT },
  },
  {
    name: 'email.open',
    summary: 'The recipient opened an email for the first time',
    data: { ...email, openedAt: Instant, opens: z.number().int(), isFirstOpen: z.boolean() },
    example: { ...EMAIL, openedAt: AT, opens: 1, isFirstOpen: true },
  },
  {
    name: 'email.click',
    summary: 'The recipient clicked a link in an email for the first time',
    data: { ...email, link: z.string(), clickedAt: Instant, clicks: z.number().int(), isFirstClick: z.boolean() },
    example: { ...EMAIL, link: 'https://shop.example.com/', clickedAt: AT, clicks: 1, isFirstClick: true },
  },
  {
    name: 'email.bounce',
    summary: 'An email bounced',
    data: {
      ...email,
      bounceType: z.enum(['Permanent', 'Transient']),
      bouncedAt: Instant.optional().openapi({ description: 'Present if the bounce is Permanent' }),
      transientBounce: z.boolean().optional().openapi({ description: 'True if the bounce is Transient' }),
    },
    example: { ...EMAIL, bounceType: 'Permanent', bouncedAt: AT },
  },
  {
    name: 'email.complaint',
    summary: 'The recipient marked an email as spam',
    data: { ...email, complainedAt: Instant },
    example: { ...EMAIL, complainedAt: AT },
  },
  {
    name: 'email.received',
    summary: 'An inbound address of the project received an email',
    data: {
      ...email,
      to: z.string(),
      recipients: z.array(z.string()),
      fromHeader: z.string(),
      inReplyTo: z.string().nullable(),
      references: z.array(z.string()),
      attachments: z.array(
        z.object({
          id: Id.openapi({
            description:
              'The `attachmentId` of `GET /v1/emails/{id}/attachments/{attachmentId}`. The attachment is kept for at least 30 days.',
          }),
          filename: z.string().nullable(),
          contentType: z.string(),
          size: z.number().int().openapi({ description: 'Bytes' }),
          contentId: z.string().nullable(),
        }),
      ),
      timestamp: Instant,
      hasContent: z.boolean(),
      body: z.string(),
      autoSubmitted: z.boolean().openapi({ description: 'True for automatic replies and bulk email' }),
    },
    example: {
      ...EMAIL,
      from: 'ada@example.com',
      fromName: 'Ada',
      sourceType: 'INBOUND',
      to: 'help@in.shop.example.com',
      recipients: ['help@in.shop.example.com'],
      fromHeader: 'Ada <ada@example.com>',
      inReplyTo: EMAIL.messageId,
      references: [EMAIL.messageId],
      attachments: [
        { id: EXAMPLE_ID, filename: 'receipt.pdf', contentType: 'application/pdf', size: 48213, contentId: null },
      ],
      timestamp: AT,
      hasContent: true,
      body: 'Where is my order?',
      autoSubmitted: false,
    },
  },
  {
    name: 'sms.received',
    summary: 'A sender of the project received an SMS',
    data: {
      from: z.string(),
      to: z.string(),
      text: z.string(),
      messageId: z.string().nullable(),
      media: z
        .array(z.object({ url: z.string(), contentType: z.string() }))
        .openapi({ description: 'The files of an MMS, with URLs of the provider' }),
      consent: z.enum(['stop', 'start']).nullable().openapi({
        description: '`stop` if the message ends SMS consent, `start` if it gives consent again, otherwise null',
      }),
    },
    example: {
      from: '+4915112345678',
      to: '+4915187654321',
      text: 'Where is my order?',
      messageId: 'SM4711',
      media: [{ url: 'https://api.twilio.com/…/Media/ME4711', contentType: 'image/jpeg' }],
      consent: null,
    },
  },
  {
    name: 'contact.subscribed',
    summary: 'A contact was subscribed',
    data: {
      resubscribed: z
        .boolean()
        .optional()
        .openapi({ description: 'True if the contact had unsubscribed personally before' }),
    },
    example: {},
  },
  {
    name: 'contact.unsubscribe_requested',
    summary: 'A caller with the public key requested to unsubscribe a contact. The contact stays subscribed.',
    data: {
      caller: z
        .string()
        .openapi({ description: 'Identifies the caller. The value is the same for all requests of one caller.' }),
      requests: z
        .number()
        .int()
        .openapi({ description: 'Number of requests of this caller about this contact within a day' }),
    },
    example: { caller: '5d41402abc4b', requests: 1 },
  },
  {
    name: 'contact.unsubscribed',
    summary: 'A contact was unsubscribed',
    data: { reason: z.string().optional().openapi({ description: 'Set after a bounce or a complaint' }) },
    example: { reason: 'complaint' },
  },
  { name: 'topic.joined', summary: 'A contact joined a topic', data: topic, example: TOPIC },
  { name: 'topic.left', summary: 'A contact left a topic', data: topic, example: TOPIC },
  {
    name: 'segment.<slug>.entry',
    sample: 'segment.vip.entry',
    summary: 'A contact entered a tracked segment',
    data: segment,
    example: SEGMENT,
  },
  {
    name: 'segment.<slug>.exit',
    sample: 'segment.vip.exit',
    summary: 'A contact left a tracked segment',
    data: segment,
    example: SEGMENT,
  },
  {
    name: 'shopify.back_in_stock',
    summary: 'A variant that a contact waits for is available again',
    data: { variantId: z.string(), productTitle: z.string(), title: z.string(), url: z.string().nullable() },
    example: { variantId: '4711', productTitle: 'Cup', title: 'Blue', url: 'https://shop.example.com/cup' },
  },
  {
    name: 'any event of yours',
    sample: 'cart.left',
    summary: 'A custom event, recorded with POST /v1/track or the pixel',
    data: {},
    example: { cartId: '4711', total: 40 },
  },
];

/**
 * The data of a contact. The schema has a name, because client generators create the nullable contact twice and would
 * give an inline schema two names.
 */
const ContactData = z.record(z.string(), z.unknown()).openapi('WebhookContactData');

const Contact = z
  .object({ id: Id, email: EmailAddressResponse, subscribed: z.boolean(), data: ContactData })
  .openapi('WebhookContact', {
    example: { id: EXAMPLE_ID, email: 'ada@example.com', subscribed: true, data: { plan: 'pro' } },
  });

/** The names of the events that the document describes. */
export const WEBHOOK_NAMES = EVENTS.map(({ name }) => name);

/**
 * Adds the requests to webhook endpoints to the OpenAPI document, one operation per event. Source: contract §10.8
 * Webhook body.
 */
export function registerWebhooks(hono: OpenAPIHono<AppEnv>): void {
  for (const { name, sample, summary, data, example } of EVENTS) {
    const event = Object.keys(data).length > 0 ? z.looseObject(data) : z.record(z.string(), z.unknown());
    const body = z.object({
      id: Id.openapi({
        description: 'Id of the delivery, the same in all attempts. The header `webhook-id` has the same value.',
      }),
      type: sample === undefined ? z.literal(name) : z.string(),
      timestamp: Instant,
      projectId: Id,
      data: z.object({
        event,
        contact: Contact.nullable().openapi({ description: 'Null for an event without a contact' }),
      }),
    });
    const shown = {
      id: EXAMPLE_ID,
      type: sample ?? name,
      timestamp: AT,
      projectId: EXAMPLE_ID,
      data: { event: example, contact: { id: EXAMPLE_ID, email: 'ada@example.com', subscribed: true, data: {} } },
    };
    hono.openAPIRegistry.registerWebhook({
      method: 'post',
      path: name,
      operationId: `on${pascalCase(name)}`,
      tags: ['Webhooks'],
      security: [],
      // Makes OpenAPI Generator skip the operation, because the Python code that it generates for webhooks is invalid.
      'x-internal': true,
      summary,
      description: `${summary}. Signed as Standard Webhooks: verify \`webhook-signature\` before you use the payload.`,
      request: { body: { required: true, content: { 'application/json': { schema: body, example: shown } } } },
      responses: {
        200: {
          description:
            'Any 2xx confirms receipt. A 410 disables the endpoint. After any other response, the service repeats the delivery later.',
        },
      },
    });
  }
}

function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z]+/)
    .filter(Boolean)
    .map(capitalize)
    .join('');
}
