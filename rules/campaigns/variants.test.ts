import { describe, expect, it } from 'vitest';
import { NO_TEXT } from '../content/email-text.ts';
import { compareVariants, computeWilsonInterval } from './variant-figures.ts';
import { type AssignmentCounts, assignVariants, findBestVariant, getVariantText, REST } from './variants.ts';

/** Assigns `n` recipients, page by page. The sizes of the pages repeat. */
function assignInPages(p: { weights: number[]; share: number; n: number; pages: number[] }): number[] {
  const assignments: number[] = [];
  for (let page = 0; assignments.length < p.n; page++) {
    const n = Math.min(p.n - assignments.length, p.pages[page % p.pages.length] ?? 1);
    assignments.push(...assignVariants({ ...p, before: countAssignments(assignments, p.weights.length), n }));
  }
  return assignments;
}

function countAssignments(assignments: number[], variants: number): AssignmentCounts {
  const count = (assignment: number) => assignments.filter((each) => each === assignment).length;
  return { variants: Array.from({ length: variants }, (_, n) => count(n)), rest: count(REST) };
}

describe('assigning variants to an audience', () => {
  it.each([
    [0.1, 1_000, 100],
    [0.07, 100, 7],
    [0.02, 1, 1],
    [0.02, 51, 2],
    [0.3, 10, 3],
    [0.25, 10, 3],
    [1, 9, 9],
    [0.15, 4_321, 649],
  ])('a share of %s of %s recipients is %s whole recipients, whatever the size of the pages', (share, n, expected) => {
    for (const pages of [[n], [500, 5_000], [7, 1, 13]]) {
      const { variants, rest } = countAssignments(assignInPages({ weights: [1, 1], share, n, pages }), 2);
      expect(variants.reduce((sum, count) => sum + count, 0)).toBe(expected);
      expect(rest).toBe(n - expected);
    }
  });

  it.each([
    [[1, 1], 1_000, [500, 500]],
    [[3, 1], 400, [300, 100]],
    [[50, 30, 20], 1_000, [500, 300, 200]],
    [[0.5, 0.25, 0.25], 8, [4, 2, 2]],
    [[1, 1, 1, 1, 1], 7, [2, 2, 1, 1, 1]],
    [[90, 10], 10, [9, 1]],
  ])('with the weights %j, %s recipients are assigned as %j', (weights, n, expected) => {
    const assignments = assignInPages({ weights, share: 1, n, pages: [3, 100] });
    expect(countAssignments(assignments, weights.length).variants).toEqual(expected);
  });

  it('gives the same assignments for pages of any size', () => {
    const p = { weights: [5, 2, 2], share: 0.37, n: 3_000 };
    expect(assignInPages({ ...p, pages: [17, 400] })).toEqual(assignInPages({ ...p, pages: [3_000] }));
  });
});

describe('the better variant', () => {
  it.each([
    [
      'the one with the higher rate, not with more successes',
      [
        [100, 20],
        [10, 5],
      ],
      0,
      1,
    ],
    [
      'the first of two equal variants',
      [
        [10, 5],
        [20, 10],
      ],
      0,
      0,
    ],
    [
      'the first of several variants with the best rate',
      [
        [10, 1],
        [10, 5],
        [10, 5],
      ],
      0,
      1,
    ],
    [
      'the first one if the better one has fewer successes than the minimum',
      [
        [10, 0],
        [10, 4],
      ],
      5,
      0,
    ],
    [
      'the better one if it has exactly the minimum of successes',
      [
        [10, 0],
        [10, 5],
      ],
      5,
      1,
    ],
    [
      'the first one if no variant has a success',
      [
        [10, 0],
        [10, 0],
      ],
      0,
      0,
    ],
    [
      'the first one if nothing was sent',
      [
        [0, 0],
        [0, 0],
      ],
      0,
      0,
    ],
  ])('the better variant is %s', (_, results, minimum, expected) => {
    const given = results.map(([sent = 0, successes = 0]) => ({ sent, successes }));
    expect(findBestVariant(given, minimum)).toBe(expected);
  });
});

describe('the interval of a rate', () => {
  // The values of R's binom.confint(method = "wilson") and of Wikipedia's formula.
  it.each([
    [10, 100, 0.0552, 0.1744],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [1, 2, 0.0945, 0.9055],
    [500, 1_000, 0.4691, 0.5309],
  ])('of %s in %s is %s to %s', (successes, sent, low, high) => {
    const interval = computeWilsonInterval({ sent, successes });
    expect(interval.low).toBeCloseTo(low, 3);
    expect(interval.high).toBeCloseTo(high, 3);
  });

  it('starts at 0 without successes, and ends at 1 if all recipients are successes', () => {
    for (const sent of [1, 3, 7, 20]) {
      expect(computeWilsonInterval({ sent, successes: 0 }).low).toBe(0);
      expect(computeWilsonInterval({ sent, successes: sent }).high).toBe(1);
    }
  });

  it('the interval of a rate without recipients is 0 to 1', () => {
    expect(computeWilsonInterval({ sent: 0, successes: 0 })).toEqual({ low: 0, high: 1 });
  });
});

describe('the sentence about the difference', () => {
  const compareTwo = (a: [number, number], b: [number, number]) =>
    compareVariants(
      [
        { name: 'A', sent: a[0], successes: a[1] },
        { name: 'B', sent: b[0], successes: b[1] },
      ],
      'opens',
    );

  it('says that a difference is not significant', () => {
    const near = compareTwo([100, 20], [100, 25]);
    expect(near).toMatchObject({ significant: false, leader: 'B' });
    expect(near.sentence).toBe(
      'The difference between B (25.0 % opened) and A (20.0 % opened) is not significant: with 95 % confidence it may be chance.',
    );
    expect(compareTwo([10, 2], [10, 2])).toMatchObject({ significant: false, leader: null });
    expect(compareTwo([0, 0], [10, 2]).sentence).toContain('is not significant');
  });

  it('says that a difference is significant', () => {
    const far = compareTwo([1_000, 200], [1_000, 300]);
    expect(far).toMatchObject({ significant: true, leader: 'B' });
    expect(far.sentence).not.toContain('not significant');
  });
});

describe('the text of a variant', () => {
  it("is the campaign's text except for the variant's own fields, for every field of an email", () => {
    const campaign = { ...NO_TEXT, subject: 'S', body: 'B', from: 'a@e.test', fromName: 'N' };
    expect(getVariantText(campaign, { name: 'A', weight: 1 })).toEqual(campaign);
    const other = { subject: 'T', from: 'b@e.test', fromName: 'M', replyTo: 'r@e.test' };
    expect(getVariantText(campaign, { name: 'A', weight: 1, ...other })).toEqual({ ...campaign, ...other });
  });
});
