import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEventNameError, toSegmentEventName } from './events/event-names.ts';
import { toSegmentSlug } from './slug.ts';

describe('the slug of a segment', () => {
  it.each([
    ['Big Spenders', 'big-spenders'],
    ['  VIP  customers! ', 'vip-customers'],
    ['VIPs of iPhone 6F', 'vips-of-iphone-6f'],
    ['Crème & Brûlée', 'creme-and-brulee'],
    ['🎉🎉', 'u-1f389-1f389'],
    ['', 'segment'],
  ])('the slug of the name %j is %s', (name, slug) => {
    expect(toSegmentSlug(name)).toBe(slug);
  });

  it('is never empty, has lower case and hyphens, and results in a valid reserved event name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (name) => {
        const slug = toSegmentSlug(name);
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(findEventNameError(toSegmentEventName(slug, 'entry'))?.code).toBe('reserved_event');
      }),
    );
  });
});
