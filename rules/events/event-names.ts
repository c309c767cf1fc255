import { closest, distance } from 'fastest-levenshtein';
import type { FieldError } from '../errors.ts';
import { segmentSlug } from '../slug.ts';

/** Events the service records about email. Source: contract §8.2 Events of the service. */
export const EMAIL_EVENTS = [
  'email.sent',
  'email.delivery',
  'email.open',
  'email.click',
  'email.bounce',
  'email.complaint',
  'email.received',
] as const;

export const CONTACT_EVENTS = ['contact.subscribed', 'contact.unsubscribed'] as const;

/**
 * A caller with the public key asked to unsubscribe a contact, and the project's `publicKeyMode` leaves the contact
 * unchanged. Source: contract §2.2 Public key.
 */
export const UNSUBSCRIBE_REQUESTED_EVENT = 'contact.unsubscribe_requested';

/** A contact joins or leaves a topic. */
const TOPIC_EVENTS = ['topic.joined', 'topic.left'] as const;

/** Recorded for every SMS to a sender of the project. */
export const SMS_RECEIVED_EVENT = 'sms.received';

export type EmailEvent = (typeof EMAIL_EVENTS)[number];
export type ContactEvent = (typeof CONTACT_EVENTS)[number];
export type TopicEvent = (typeof TOPIC_EVENTS)[number];

export const EVENT_NAME_LENGTH = 255;
const BLANK_NAME = 'An event name has at least 1 character that is not a space.';

/** Prefix of the events that a storefront's pages report (`POST /v1/pixel`). */
export const PIXEL_PREFIX = 'pixel.';

/** Namespaces the service fills from other sources: the pixel and the storefront platform. */
const SYSTEM_SOURCED = [PIXEL_PREFIX, 'shopify.'];

/** Recorded when a variant that a contact waits for is available again (contract §10.5 Back in stock). */
export const BACK_IN_STOCK_EVENT = 'shopify.back_in_stock';

/** Tells whether only the service may record this name. Callers may listen to it. */
function isReservedEvent(name: string): boolean {
  return (
    name.startsWith('email.') ||
    name === SMS_RECEIVED_EVENT ||
    name === UNSUBSCRIBE_REQUESTED_EVENT ||
    ([...CONTACT_EVENTS, ...TOPIC_EVENTS] as readonly string[]).includes(name) ||
    /^segment\..+\.(entry|exit)$/s.test(name)
  );
}

/**
 * Tells whether the name is in a namespace of another source (`pixel.`, `shopify.`), in which callers cannot record.
 */
function isSystemSourcedEvent(name: string): boolean {
  return SYSTEM_SOURCED.some((prefix) => name.startsWith(prefix));
}

/**
 * Tells whether the service owns the name, so that a caller can neither record nor purge it (contract §8.3 Event
 * names).
 */
export function isSystemEvent(name: string): boolean {
  return isReservedEvent(name) || isSystemSourcedEvent(name);
}

/**
 * Returns the error of an event name that a caller wants to record, or undefined. Codes `too_small`, `too_big`,
 * `invalid_string`, `reserved_event`, `system_sourced_event`. Source: contract §8.1 Tracking.
 */
export function eventNameFault(name: string, field = 'event'): FieldError | undefined {
  const shape = eventNameShapeFault(name, field);
  if (shape) return shape;
  if (isReservedEvent(name))
    return {
      field,
      message: `"${name}" is reserved, because the service records it itself. Choose another name.`,
      code: 'reserved_event',
    };
  if (isSystemSourcedEvent(name))
    return {
      field,
      message: `"${name}" is in a namespace only the service writes. Choose another name.`,
      code: 'system_sourced_event',
    };
  return undefined;
}

/** Takes blanks from both ends, as triggers and waits do: they would not hear an event with a blank at its end. */
export function trimEventName(name: string): string {
  return name.replace(/^\p{Zs}+|\p{Zs}+$/gu, '');
}

/** Checks only length and characters. Names that a project listens to need no more, such as a workflow's trigger. */
export function eventNameShapeFault(name: string, field = 'event'): FieldError | undefined {
  if (!/[^\s\p{Cf}]/u.test(name)) return { field, message: BLANK_NAME, code: 'too_small' };
  if (name.length > EVENT_NAME_LENGTH)
    return { field, message: `An event name has at most ${EVENT_NAME_LENGTH} characters.`, code: 'too_big' };
  // Postgres cannot store NUL or half a surrogate pair, and a name with line breaks could forge log lines.
  if (/[\p{Cc}\p{Cs}]/u.test(name))
    return { field, message: 'An event name is text without control characters.', code: 'invalid_string' };
  return undefined;
}

/** Names that the service records, in the spelling that callers have to use. */
const RECORDED: readonly string[] = [
  ...EMAIL_EVENTS,
  ...CONTACT_EVENTS,
  UNSUBSCRIBE_REQUESTED_EVENT,
  ...TOPIC_EVENTS,
  SMS_RECEIVED_EVENT,
  BACK_IN_STOCK_EVENT,
];
/** Namespaces in which callers cannot record, so an unknown name in them never occurs. */
const CLOSED = /^(?:email|shopify)\./i;
/**
 * Namespaces that callers share with the service. A name that is similar to one of the service's counts as a mistake.
 */
const SHARED = /^(?:contact|topic|sms|segment)\./i;
const NEARLY = 3;
/** Words that other systems have for the events of an email. */
const OTHER_WORDS: readonly (readonly [event: string, words: RegExp])[] = [
  ['email.open', /^(read|seen|view(ed)?|open\w*)$/],
  ['email.sent', /^(send|processed|accepted|dispatched)$/],
  ['email.bounce', /^(failed|failure|reject(ed)?|dropped|hard_?bounced?|soft_?bounced?|bounce\w*|undelivered)$/],
  ['email.complaint', /^(spam\w*|complain\w*|junk|abuse)$/],
  ['email.received', /^(repl(y|ied)|inbound|incoming|answer(ed)?)$/],
  ['contact.unsubscribed', /^(unsubscribed?|opt_?out)$/],
];

/**
 * Returns why an event name can never occur, with the intended name. Undefined if it can occur. For new triggers,
 * waits, exits, filters and webhooks; stored ones do not change.
 */
export function impossibleEventReason(name: string): string | undefined {
  const shape = eventNameShapeFault(name);
  if (shape) return shape.message;
  if (name.startsWith(PIXEL_PREFIX) && eventNameShapeFault(name.slice(PIXEL_PREFIX.length)))
    return `The service records no event "${name}". Add the name that the page reports, such as pixel.product_viewed.`;
  if (RECORDED.includes(name) || (!CLOSED.test(name) && !SHARED.test(name))) return undefined;
  if (/^segment\./i.test(name)) return impossibleSegmentReason(name);
  const nearest = nearestEvent(name.toLowerCase());
  if (CLOSED.test(name))
    return `The service records no event "${name}". Did you mean ${nearest}? It records ${RECORDED.filter((known) => CLOSED.test(known)).join(', ')}.`;
  const isClose = distance(name.toLowerCase(), nearest) <= NEARLY || nearest.startsWith(name.toLowerCase());
  return isClose ? `The service records no event "${name}". Did you mean ${nearest}?` : undefined;
}

/** Returns why no event can have a prefix (`email.opened*`). Undefined if an event can. */
export function impossiblePrefixReason(prefix: string): string | undefined {
  if (!CLOSED.test(prefix) || RECORDED.some((name) => name.startsWith(prefix))) return undefined;
  return `No event begins with "${prefix}". Did you mean ${nearestEvent(prefix.toLowerCase())}?`;
}

/** Returns the recorded event that a name is nearest to, by meaning where other systems have another word. */
function nearestEvent(name: string): string {
  if (name.startsWith('shopify.')) return BACK_IN_STOCK_EVENT;
  const word = /^email\.(\w+)/.exec(name)?.[1] ?? '';
  return OTHER_WORDS.find(([, words]) => words.test(word))?.[0] ?? closest(name, RECORDED);
}

const SEGMENT_EVENT = /^segment\.(.+)\.(entry|exit)$/is;

/**
 * Returns why a segment's event name can never occur. The events of a segment contain its slug, so `segment.VIP.entry`
 * never occurs. A caller may record an event with the name `segment.vip.entered`, but the service does not record that
 * event when a contact enters the segment.
 */
function impossibleSegmentReason(name: string): string | undefined {
  const [, slug = '', own = ''] = SEGMENT_EVENT.exec(name) ?? [];
  if (slug !== '') {
    const recorded = `segment.${segmentSlug(slug)}.${own.toLowerCase()}`;
    return name === recorded ? undefined : `The service records no event "${name}". Did you mean ${recorded}?`;
  }
  const parts = name.split('.');
  const change = parts.at(-1) ?? '';
  if (parts.length < 3 || change === 'entry' || change === 'exit') return undefined;
  const nearest = closest(change.toLowerCase(), ['entry', 'exit', 'entered', 'exited', 'left', 'joined', 'enter']);
  if (distance(change.toLowerCase(), nearest) > 1) return undefined;
  const meant = ['exit', 'exited', 'left'].includes(nearest) ? 'exit' : 'entry';
  return `The service records no event "${name}". Did you mean ${[...parts.slice(0, -1), meant].join('.')}?`;
}

/** Returns the name of the event for a contact that enters or leaves a segment; `slug` is the segment's slug. */
export function segmentEvent(slug: string, change: 'entry' | 'exit'): string {
  return `segment.${slug}.${change}`;
}
