import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  EMAIL_EVENTS,
  findEventNameError,
  findImpossibleEventError,
  isSystemEvent,
  toSegmentEventName,
} from './event-names.ts';
import { refuseImpossiblePattern } from './listened-event.ts';

describe('names that a caller may not record', () => {
  it.each([...EMAIL_EVENTS, 'email.', 'email.anything', 'contact.subscribed', 'contact.unsubscribed'])(
    '%s is reserved',
    (name) => {
      expect(findEventNameError(name)).toMatchObject({ field: 'event', code: 'reserved_event' });
    },
  );

  it.each(['segment.vip.entry', 'segment.big-spenders.exit', toSegmentEventName('a', 'exit')])(
    '%s is reserved',
    (name) => {
      expect(findEventNameError(name)?.code).toBe('reserved_event');
    },
  );

  it.each(['pixel.page_viewed', 'pixel.', 'shopify.back_in_stock'])(
    '%s is an event of the service, which no caller may record',
    (name) => {
      expect(findEventNameError(name, 'name')).toMatchObject({ field: 'name', code: 'system_sourced_event' });
    },
  );

  it.each([
    ['', 'too_small'],
    ['   ', 'too_small'],
    ['\u3000', 'too_small'],
    ['\u200b\u3000', 'too_small'],
    ['x'.repeat(256), 'too_big'],
    ['a\nb', 'invalid_string'],
    ['a\0', 'invalid_string'],
    ['\ud83d', 'invalid_string'],
  ])('%j is refused as %s', (name, code) => {
    expect(findEventNameError(name)?.code).toBe(code);
  });
});

describe('names a caller may record', () => {
  it.each([
    'signup',
    'email',
    'emailed',
    'contact.updated',
    'contact.subscribed.again',
    'segment.vip',
    'segment.vip.entered',
    'pixel',
    'shopify',
    'Purchase Completed',
    'x'.repeat(255),
    'commande-passée 🎉',
  ])('a caller may record the event %s', (name) => {
    expect(findEventNameError(name)).toBeUndefined();
    expect(isSystemEvent(name)).toBe(false);
  });
});

describe('names to listen to', () => {
  it('have a character that is not a space', () => {
    expect(findImpossibleEventError('  ')).toContain('not a space');
    expect(findImpossibleEventError(' a ')).toBeUndefined();
  });

  it.each([
    ['email.opened', 'email.open'],
    ['email.clicked', 'email.click'],
    ['email.delivered', 'email.delivery'],
    ['email.bounced', 'email.bounce'],
    ['Email.Open', 'email.open'],
    ['email.unsubscribed', 'contact.unsubscribed'],
    ['email.failed', 'Did you mean email.bounce?'],
    ['email.reply', 'Did you mean email.received?'],
    ['email.read', 'Did you mean email.open?'],
    ['shopify.order', 'Did you mean shopify.back_in_stock?'],
    ['contact.unsubscribe', 'contact.unsubscribed'],
    ['topic.join', 'topic.joined'],
    ['sms.recieved', 'sms.received'],
    ['shopify.back_in_stok', 'shopify.back_in_stock'],
    ['segment.vip.entered', 'segment.vip.entry'],
    ['segment.vip.left', 'segment.vip.exit'],
    ['segment.VIP.entry', 'segment.vip.entry'],
    ['segment.Big Spenders.exit', 'segment.big-spenders.exit'],
    ['Segment.vip.Exit', 'segment.vip.exit'],
    ['segment.a.b.entry', 'segment.a-b.entry'],
    ['pixel.', 'pixel.product_viewed'],
    ['pixel. ', 'pixel.product_viewed'],
    ['\u200b', 'not a space'],
    ['a\u0000b', 'control'],
  ])('the event %s can never occur, and the error suggests %s', (name, nearest) => {
    expect(findImpossibleEventError(name)).toContain(nearest);
  });

  it.each([...EMAIL_EVENTS, 'signup', 'contact.updated', 'segment.vip.entry', 'topic.left', 'sms.received', 'pixel.x'])(
    '%s can happen',
    (name) => expect(findImpossibleEventError(name)).toBeUndefined(),
  );
});

describe('a pattern of event names', () => {
  const Pattern = z.string().superRefine(refuseImpossiblePattern);
  const findMessage = (pattern: string) => Pattern.safeParse(pattern).error?.issues[0]?.message;

  it.each([
    ['email.opened*', 'email.open'],
    ['email.delivered.*', 'email.delivery'],
    ['Email.click*', 'email.click'],
    ['shopify.stock*', 'shopify.back_in_stock'],
    ['email.opened', 'email.open'],
  ])('is refused if no event can match it: %s', (pattern, nearest) => expect(findMessage(pattern)).toContain(nearest));

  it.each([
    '*',
    'email.*',
    'email.o*',
    'email*',
    'shopify.back*',
    'contact.*',
    'contact.moved*',
    'segment.vip*',
    'pixel.*',
    'order*',
  ])('is accepted if an event can match it: %s', (pattern) => expect(findMessage(pattern)).toBeUndefined());
});
