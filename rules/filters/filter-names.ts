import { distance } from 'fastest-levenshtein';
import { findConsentHint, RESERVED_DATA_KEYS } from './data-values.ts';
import { EMAIL_ACTIVITIES, OPERATORS, type Operator } from './fields.ts';

const FIELDS = ['email', 'subscribed', 'createdAt', 'updatedAt'] as const;
/** Words for operators in other filter languages, each with our operator. */
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

/** Returns the error message for an unknown operator. The message suggests the operator that was probably meant. */
export function describeUnknownOperator(operator: unknown): string {
  const word = normalizeName(String(operator));
  const suggestion =
    OPERATORS.find((candidate) => normalizeName(candidate) === word) ??
    (Object.hasOwn(OPERATOR_WORDS, word) ? OPERATOR_WORDS[word] : undefined) ??
    OPERATORS.find((candidate) => distance(normalizeName(candidate), word) <= Math.min(2, Math.floor(word.length / 3)));
  return `${suggestion ? `Did you mean ${suggestion}? ` : ''}Must be one of ${OPERATORS.join(', ')}`;
}

/** Returns a sentence that suggests the field that was probably meant. Undefined if no field is similar. */
export function suggestField(field: string): string | undefined {
  const name = field.replace(/^contact\./, '');
  const word = normalizeName(name);
  const builtIn =
    FIELDS.find((candidate) => normalizeName(candidate) === word) ??
    FIELDS.find((candidate) => distance(normalizeName(candidate), word) <= 2);
  if (builtIn) return `Did you mean ${builtIn}?`;
  const activity = /^email\.(\w+)$/.exec(name)?.[1];
  const similarActivity =
    activity &&
    EMAIL_ACTIVITIES.find((candidate) => candidate.startsWith(activity) || distance(candidate, activity) <= 2);
  if (similarActivity) return `Did you mean email.${similarActivity}?`;
  const isData = /^[\p{L}\p{N}_-]+$/u.test(name) && name !== 'data' && !RESERVED_DATA_KEYS.has(name);
  return isData && findConsentHint(name) === undefined ? `A custom field is written data.${name}.` : undefined;
}

function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, '');
}
