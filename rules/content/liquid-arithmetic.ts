import { Decimal } from 'decimal.js';
import type { Liquid } from 'liquidjs';
import { readValueAt } from '../filters/values.ts';
import { wrapOwnFilter } from './filter-defect.ts';
import { toPlainText } from './plain-value.ts';

/**
 * Calculates with more digits than a JavaScript number has, so that each result is the number nearest to the exact
 * value.
 */
const Exact = Decimal.clone({ precision: 40, rounding: Decimal.ROUND_HALF_UP });

/** The maximum number of decimal places for `round`. A number has fewer digits. */
const PLACES_MAX = 20;

const OPERATIONS: Record<string, (a: Decimal, b: Decimal, integers: boolean) => Decimal> = {
  plus: (a, b) => a.plus(b),
  minus: (a, b) => a.minus(b),
  times: (a, b) => a.times(b),
  divided_by: (a, b, integers) => (integers ? a.div(b).floor() : a.div(b)),
  // The result has the sign of the divisor, as in Ruby.
  modulo: (a, b) => a.mod(b).plus(b).mod(b),
  at_least: (a, b) => Decimal.max(a, b),
  at_most: (a, b) => Decimal.min(a, b),
  abs: (a) => a.abs(),
  ceil: (a) => a.ceil(),
  floor: (a) => a.floor(),
};

/**
 * Registers filters that calculate in decimal: `{{ 0.0725 | times: 100 }}` is 7.25, where the library's binary
 * arithmetic gives 7.249999999999999. A value that is not a number counts as 0, as in the library.
 */
export function registerArithmetic(engine: Liquid): void {
  for (const [name, operation] of Object.entries(OPERATIONS))
    engine.registerFilter(
      name,
      wrapOwnFilter((a: unknown, b: unknown, integers: unknown) =>
        operation(toDecimal(a), toDecimal(b), Boolean(integers)).toNumber(),
      ),
    );
  engine.registerFilter('round', wrapOwnFilter(round));
  engine.registerFilter('sum', wrapOwnFilter(sum));
}

function round(value: unknown, places: unknown): number {
  const digits = toDecimal(places).trunc().clamp(-PLACES_MAX, PLACES_MAX).toNumber();
  const unit = new Exact(10).pow(-digits);
  return toDecimal(value).div(unit).round().times(unit).toNumber();
}

/** Adds up the numbers of a list, or of a property of its items. Other items count as 0. */
function sum(list: unknown, property: unknown): number {
  const items = Array.isArray(list) ? list : [list];
  const values =
    property === undefined ? items : items.map((item) => readValueAt(item, toPlainText(property).split('.')));
  return values.reduce((total: Decimal, value) => total.plus(toDecimal(value)), new Exact(0)).toNumber();
}

function toDecimal(value: unknown): Decimal {
  const number = Number(typeof value === 'object' && value !== null ? toPlainText(value) : value);
  // Converts the number through its text, which has the digits that the author wrote.
  return new Exact(Number.isFinite(number) ? String(number) : 0);
}
