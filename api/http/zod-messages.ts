import { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };
const FORMAT_NAMES: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  uuid: 'a UUID',
  datetime: 'an ISO 8601 date-time',
  date: 'a date',
  base64: 'base64',
};

/** Makes zod report which values are accepted, for schemas that declare no message. */
export function configureZodMessages(): void {
  z.config({ localeError: formatIssueMessage });
}

/** Returns the message for an issue. Undefined means that zod's default message is used. */
function formatIssueMessage(issue: RawIssue): string | undefined {
  if (issue.code === 'invalid_type') return formatTypeMessage(issue.expected, issue.input);
  if (issue.code === 'too_small' || issue.code === 'too_big') return formatSizeMessage(issue);
  if (issue.code === 'invalid_value') return `Must be ${formatOneOf(issue.values)}`;
  if (issue.code === 'invalid_union') return formatUnionMessage(issue);
  if (issue.code === 'not_multiple_of') return `Must be a multiple of ${issue.divisor}`;
  if (issue.code === 'invalid_format') return formatFormatMessage(issue);
  return undefined;
}

function formatTypeMessage(expected: string, input: unknown): string {
  const received = formatTypeName(z.util.parsedType(input));
  return input === undefined
    ? `Must be ${formatTypeName(expected)}`
    : `Must be ${formatTypeName(expected)}, not ${received}`;
}

function formatTypeName(type: string): string {
  return TYPE_NAMES[type] ?? type;
}

function formatSizeMessage(issue: Extract<RawIssue, { code: 'too_small' | 'too_big' }>): string {
  const small = issue.code === 'too_small';
  const limit = small ? issue.minimum : issue.maximum;
  const unit = UNITS[issue.origin];
  if (!unit) {
    const bound = issue.inclusive ? (small ? 'at least' : 'at most') : small ? 'greater than' : 'less than';
    return `Must be ${bound} ${limit}`;
  }
  if (small && limit === 1 && !issue.exact) return 'Must not be empty';
  const bound = issue.exact ? 'exactly' : small ? 'at least' : 'at most';
  return `Must have ${bound} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

function formatOneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function formatUnionMessage(issue: Extract<RawIssue, { code: 'invalid_union' }>): string | undefined {
  if (Array.isArray(issue.options) && issue.options.length > 0) return `Must be ${formatOneOf(issue.options)}`;
  const types = [...new Set(listTypeNames(issue.errors))];
  return types.length === 0 ? undefined : `Must be ${types.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
}

/**
 * Lists the types and the literal values that the alternatives of a union accept. Used if no alternative accepts the
 * input's type.
 */
function listTypeNames(errors: readonly z.core.$ZodIssue[][]): string[] {
  const issues = errors.flat().filter(({ path }) => path.length === 0);
  return issues.flatMap((issue) => {
    if (issue.code === 'invalid_type') return formatTypeName(issue.expected);
    if (issue.code === 'invalid_value') return issue.values.map(String);
    return issue.code === 'invalid_union' ? listTypeNames(issue.errors) : [];
  });
}

function formatFormatMessage(issue: Extract<RawIssue, { code: 'invalid_format' }>): string {
  const name = FORMAT_NAMES[issue.format];
  if (name) return `Must be ${name}`;
  return issue.pattern ? `Must match the pattern ${issue.pattern}` : `Must be a valid ${issue.format}`;
}
