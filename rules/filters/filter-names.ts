import { distance } from 'fastest-levenshtein';
import { consentPlaceOf, RESERVED_DATA_KEYS } from './data-values.ts';
import { EMAIL_ACTIVITIES, OPERATORS, type Operator } from './fields.ts';

const FIELDS = ['email', 'subscribed', 'createdAt', 'updatedAt'] as const;
/** Words for operators in other filter languages. */
const OPERATOR_WORDS: Readonly<Record<string, Operator>> = {
  '=': 'equals',
  '==': 'equals',
  eq: 'equals',
  is: 'equals',
  equal: 'equals',
  '!=': 'notEquals',
  '<>': 'notEquals',
  ne: 'notEquals',
  neq: 'notEquals',
  isnot: 'notEquals',
  '>': 'greaterThan',
  gt: 'greaterThan',
  after: 'greaterThan',
  '<': 'lessThan',
  lt: 'lessThan',
  before: 'lessThan',
  '>=': 'greaterThanOrEqual',
  gte: 'greaterThanOrEqual',
  '<=': 'lessThanOrEqual',
  lte: 'lessThanOrEqual',
  like: 'contains',
  includes: 'contains',
  doesnotcontain: 'notContains',
  anyof: 'in',
  oneof: 'in',
  noneof: 'notIn',
  isset: 'exists',
  isnotnull: 'exists',
  isempty: 'notExists',
  isnull: 'notExists',
  isnotset: 'notExists',
};

/** Returns the error of an unknown operator, with the one that was probably meant. */
export function operatorFault(written: unknown): string {
  const word = plain(String(written));
  const meant =
    OPERATORS.find((one) => plain(one) === word) ??
    (Object.hasOwn(OPERATOR_WORDS, word) ? OPERATOR_WORDS[word] : undefined) ??
    OPERATORS.find((one) => distance(plain(one), word) <= Math.min(2, Math.floor(word.length / 3)));
  return `${meant ? `Did you mean ${meant}? ` : ''}Must be one of ${OPERATORS.join(', ')}`;
}

/** Returns a sentence that names the field that was probably meant. Undefined if nothing is similar. */
export function suggestField(field: string): string | undefined {
  const name = field.replace(/^contact\./, '');
  const word = plain(name);
  const own = FIELDS.find((one) => plain(one) === word) ?? FIELDS.find((one) => distance(plain(one), word) <= 2);
  if (own) return `Did you mean ${own}?`;
  const activity = /^email\.(\w+)$/.exec(name)?.[1];
  const done = activity && EMAIL_ACTIVITIES.find((one) => one.startsWith(activity) || distance(one, activity) <= 2);
  if (done) return `Did you mean email.${done}?`;
  const isData = /^[\p{L}\p{N}_-]+$/u.test(name) && name !== 'data' && !RESERVED_DATA_KEYS.has(name);
  return isData && consentPlaceOf(name) === undefined ? `A custom field is written data.${name}.` : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, '');
}
