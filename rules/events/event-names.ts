import { closest, distance } from 'fastest-levenshtein';
import type { FieldError } from '../errors.ts';
import { toSegmentSlug } from '../slug.ts';

/** The events that the service records about email. Source: contract §8.2 Events of the service. */
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

/** The service records this event for every SMS to a sender of the project. */
export const SMS_RECEIVED_EVENT = 'sms.received';

export type EmailEvent = (typeof EMAIL_EVENTS)[number];
export type ContactEvent = (typeof CONTACT_EVENTS)[number];
export type TopicEvent = (typeof TOPIC_EVENTS)[number];

export const EVENT_NAME_LENGTH = 255;
const BLANK_NAME = 'An event name has at least 1 character that is not a space.';

/** Prefix of the events that a storefront's pages report (`POST /v1/pixel`). */
export const PIXEL_PREFIX = 'pixel.';

/** The namespaces of events that the service records from other sources: the pixel and the storefront platform. */
const SYSTEM_SOURCED = [PIXEL_PREFIX, 'shopify.'];

/**
 * The service records this event when a product variant that a contact waits for is available again (contract §10.5
 * Back in stock).
 */
export const BACK_IN_STOCK_EVENT = 'shopify.back_in_stock';

/** Tells whether only the service may record an event with this name. Callers may listen to such events. */
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
 * Tells whether a name is in a namespace of another source (`pixel.`, `shopify.`), in which callers cannot record
 * events.
 */
function isSystemSourcedEvent(name: string): boolean {
  return SYSTEM_SOURCED.some((prefix) => name.startsWith(prefix));
}

/**
 * Tells whether only the service uses this name, so that a caller can neither record nor purge events with it (contract
 * §8.3 Event names).
 */
export function isSystemEvent(name: string): boolean {
  return isReservedEvent(name) || isSystemSourcedEvent(name);
}

/**
 * Returns an error if a caller may not record an event with this name, else undefined. The error has one of the codes
 * `too_small`, `too_big`, `invalid_string`, `reserved_event` and `system_sourced_event`. Source: contract §8.1
 * Tracking.
 */
export function findEventNameError(name: string, field = 'event'): FieldError | undefined {
  const shapeError = findEventNameShapeError(name, field);
  if (shapeError) return shapeError;
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

/**
 * Removes spaces at both ends. The names in triggers and waits are trimmed in the same way, so they would not match an
 * event whose name ends with a space.
 */
export function trimEventName(name: string): string {
  return name.replace(/^\p{Zs}+|\p{Zs}+$/gu, '');
}

/**
 * Checks only the length and the characters of a name. The check for reserved names (`findEventNameError`) applies only
 * to events that a project records, because a project can also listen to events of the service.
 */
export function findEventNameShapeError(name: string, field = 'event'): FieldError | undefined {
  if (!/[^\s\p{Cf}]/u.test(name)) return { field, message: BLANK_NAME, code: 'too_small' };
  if (name.length > EVENT_NAME_LENGTH)
    return { field, message: `An event name has at most ${EVENT_NAME_LENGTH} characters.`, code: 'too_big' };
  // Refuses control characters and half surrogate pairs. Postgres cannot store NUL or half a pair, and a name with line
  // breaks could forge log lines.
  if (/[\p{Cc}\p{Cs}]/u.test(name))
    return { field, message: 'An event name is text without control characters.', code: 'invalid_string' };
  return undefined;
}

/**
 * The fixed names of events that the service records, in their exact spelling. Events of the pixel and of segments have
 * no fixed names.
 */
const RECORDED: readonly string[] = [
  ...EMAIL_EVENTS,
  ...CONTACT_EVENTS,
  UNSUBSCRIBE_REQUESTED_EVENT,
  ...TOPIC_EVENTS,
  SMS_RECEIVED_EVENT,
  BACK_IN_STOCK_EVENT,
];
/** Matches namespaces in which callers cannot record events. An event with an unknown name in them never occurs. */
const CLOSED_NAMESPACE = /^(?:email|shopify)\./i;
/**
 * Matches namespaces in which both callers and the service record events. A name that is similar to the service's name
 * for an event counts as a mistake.
 */
const SHARED_NAMESPACE = /^(?:contact|topic|sms|segment)\./i;
const TYPO_DISTANCE = 3;
/** Words in other systems for events of an email, each with the event of this service. */
const WORDS_OF_OTHER_SYSTEMS: readonly (readonly [event: string, words: RegExp])[] = [
  ['email.open', /^(read|seen|view(ed)?|open\w*)$/],
  ['email.sent', /^(send|processed|accepted|dispatched)$/],
  ['email.bounce', /^(failed|failure|reject(ed)?|dropped|hard_?bounced?|soft_?bounced?|bounce\w*|undelivered)$/],
  ['email.complaint', /^(spam\w*|complain\w*|junk|abuse)$/],
  ['email.received', /^(repl(y|ied)|inbound|incoming|answer(ed)?)$/],
  ['contact.unsubscribed', /^(unsubscribed?|opt_?out)$/],
];

/**
 * Returns an error message if an event with this name can never occur, or if the name is probably a misspelled name of
 * an event that the service records. The message suggests the intended name. Undefined if the name is accepted. Only
 * new triggers, waits, exits, filters and webhooks are checked, not stored ones.
 */
export function findImpossibleEventError(name: string): string | undefined {
  const shapeError = findEventNameShapeError(name);
  if (shapeError) return shapeError.message;
  if (name.startsWith(PIXEL_PREFIX) && findEventNameShapeError(name.slice(PIXEL_PREFIX.length)))
    return `The service records no event "${name}". Add the name that the page reports, such as pixel.product_viewed.`;
  if (RECORDED.includes(name) || (!CLOSED_NAMESPACE.test(name) && !SHARED_NAMESPACE.test(name))) return undefined;
  if (/^segment\./i.test(name)) return findImpossibleSegmentError(name);
  const nearest = findNearestEvent(name.toLowerCase());
  if (CLOSED_NAMESPACE.test(name))
    return `The service records no event "${name}". Did you mean ${nearest}? It records ${RECORDED.filter((known) => CLOSED_NAMESPACE.test(known)).join(', ')}.`;
  const isClose = distance(name.toLowerCase(), nearest) <= TYPO_DISTANCE || nearest.startsWith(name.toLowerCase());
  return isClose ? `The service records no event "${name}". Did you mean ${nearest}?` : undefined;
}

/**
 * Returns an error message if no event name can start with a prefix (`email.opened*`). Undefined if an event name can.
 */
export function findImpossiblePrefixError(prefix: string): string | undefined {
  if (!CLOSED_NAMESPACE.test(prefix) || RECORDED.some((name) => name.startsWith(prefix))) return undefined;
  return `No event begins with "${prefix}". Did you mean ${findNearestEvent(prefix.toLowerCase())}?`;
}

/**
 * Returns the event of the service that a caller probably meant: by its meaning if the name has a word of another
 * system, else by its spelling.
 */
function findNearestEvent(name: string): string {
  if (name.startsWith('shopify.')) return BACK_IN_STOCK_EVENT;
  const word = /^email\.(\w+)/.exec(name)?.[1] ?? '';
  return WORDS_OF_OTHER_SYSTEMS.find(([, words]) => words.test(word))?.[0] ?? closest(name, RECORDED);
}

const SEGMENT_EVENT = /^segment\.(.+)\.(entry|exit)$/is;

/**
 * Returns an error message if a segment's event with this name never occurs. The events of a segment contain its slug,
 * so `segment.VIP.entry` never occurs. Also returns an error for a name such as `segment.vip.entered`: a caller may
 * record an event with this name, but the service does not record it when a contact enters the segment.
 */
function findImpossibleSegmentError(name: string): string | undefined {
  const [, slug = '', ending = ''] = SEGMENT_EVENT.exec(name) ?? [];
  if (slug !== '') {
    const recorded = `segment.${toSegmentSlug(slug)}.${ending.toLowerCase()}`;
    return name === recorded ? undefined : `The service records no event "${name}". Did you mean ${recorded}?`;
  }
  const parts = name.split('.');
  const change = parts.at(-1) ?? '';
  if (parts.length < 3 || change === 'entry' || change === 'exit') return undefined;
  const nearest = closest(change.toLowerCase(), ['entry', 'exit', 'entered', 'exited', 'left', 'joined', 'enter']);
  if (distance(change.toLowerCase(), nearest) > 1) return undefined;
  const intended = ['exit', 'exited', 'left'].includes(nearest) ? 'exit' : 'entry';
  return `The service records no event "${name}". Did you mean ${[...parts.slice(0, -1), intended].join('.')}?`;
}

/** Returns the name of the event for a contact that enters or leaves a segment; `slug` is the segment's slug. */
export function toSegmentEventName(slug: string, change: 'entry' | 'exit'): string {
  return `segment.${slug}.${change}`;
}
