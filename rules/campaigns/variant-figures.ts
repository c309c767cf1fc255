import { computeRate, type TestMetric, type VariantResult } from './variants.ts';

/** The 97.5 % quantile of the normal distribution, which gives two-sided intervals with 95 % confidence. */
const Z = 1.959963984540054;

/** An interval of rates from 0 to 1. */
export interface Interval {
  low: number;
  high: number;
}

/**
 * Returns the interval of a rate with 95 % confidence (Wilson's score interval). This interval is also correct for few
 * recipients and for rates near 0 and 1.
 */
export function computeWilsonInterval({ sent, successes }: VariantResult): Interval {
  if (sent === 0) return { low: 0, high: 1 };
  const rate = successes / sent;
  const square = Z * Z;
  const middle = rate + square / (2 * sent);
  const half = Z * Math.sqrt((rate * (1 - rate)) / sent + square / (4 * sent * sent));
  const whole = 1 + square / sent;
  // Returns exactly 0 or 1 here, because the floating-point result would differ slightly.
  const low = successes === 0 ? 0 : (middle - half) / whole;
  const high = successes === sent ? 1 : (middle + half) / whole;
  return { low, high };
}

/** The two best variants, and whether their difference is statistically significant. */
export interface Comparison {
  metric: TestMetric;
  /** The name of the best variant. Null if the two best are equal, or if not every variant has been sent yet. */
  leader: string | null;
  significant: boolean;
  sentence: string;
}

export interface NamedResult extends VariantResult {
  name: string;
}

/**
 * Compares the two variants with the highest rates. The better one is significantly better, with 95 % confidence, if
 * the interval of the difference (Newcombe's, from the two Wilson intervals) does not contain 0.
 */
export function compareVariants(results: readonly NamedResult[], metric: TestMetric): Comparison {
  const [first, second] = [...results].sort((a, b) => computeRate(b) - computeRate(a));
  if (!first || !second || results.some(({ sent }) => sent === 0)) {
    const sentence = 'The difference is not significant: not every variant has been sent yet.';
    return { metric, leader: null, significant: false, sentence };
  }
  const verb = metric === 'opens' ? 'opened' : 'clicked';
  const [one, other] = [first, second].map((result) => `${result.name} (${formatPercent(result)} % ${verb})`);
  if (computeRate(first) === computeRate(second)) {
    const sentence = `The difference between ${one} and ${other} is not significant: they are equal.`;
    return { metric, leader: null, significant: false, sentence };
  }
  const significant = computeLowerLimitOfDifference(first, second) > 0;
  const sentence = significant
    ? `${one} is better than ${other}: with 95 % confidence the difference is not chance.`
    : `The difference between ${one} and ${other} is not significant: with 95 % confidence it may be chance.`;
  return { metric, leader: first.name, significant, sentence };
}

/** Returns the lower limit of the confidence interval of the first rate minus the second rate. */
function computeLowerLimitOfDifference(first: VariantResult, second: VariantResult): number {
  const below = computeRate(first) - computeWilsonInterval(first).low;
  const above = computeWilsonInterval(second).high - computeRate(second);
  return computeRate(first) - computeRate(second) - Math.hypot(below, above);
}

function formatPercent(result: VariantResult): string {
  return (100 * computeRate(result)).toFixed(1);
}
