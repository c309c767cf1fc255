import type { z } from 'zod';
import type { FieldError } from '../../rules/errors.ts';
import { configureZodMessages } from './zod-messages.ts';

configureZodMessages();

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * Returns the errors of an input as an error response lists them: with dotted paths, and with the code names of zod 3,
 * which clients rely on (contract §1.5 Errors). A rule in a schema can set the code with `params: { code }` on a custom
 * issue.
 */
export function toFieldErrors(issues: readonly Issue[], input: unknown): FieldError[] {
  return issues.flatMap((issue) => convertIssue(issue, [], input));
}

function convertIssue(issue: Issue, parent: Path, input: unknown): FieldError[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'invalid_union') {
    const branch = findClosestBranch(issue.errors);
    if (branch) return branch.flatMap((inner) => convertIssue(inner, path, input));
  }
  if ((issue.code === 'invalid_key' || issue.code === 'invalid_element') && issue.issues.length > 0) {
    return issue.issues.flatMap((inner) => convertIssue(inner, path, input));
  }
  const value = getValueAt(input, path);
  return [
    { field: path.map(String).join('.'), message: toIssueMessage(issue, value), code: toIssueCode(issue, value) },
  ];
}

/**
 * Returns the issues of the closest alternative of a union: an alternative of the right type with the fewest issues.
 * Undefined if no alternative has the right type.
 */
function findClosestBranch(branches: readonly Issue[][]): Issue[] | undefined {
  const fitting = branches.filter((branch) => !branch.some(isOtherType));
  return fitting.sort((a, b) => a.length - b.length)[0];
}

/**
 * Tells whether this issue of an alternative means that the whole input has the wrong type for the alternative. The
 * alternative may itself be a union.
 */
function isOtherType(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union') return issue.errors.every((branch) => branch.some(isOtherType));
  return issue.code === 'invalid_type';
}

function toIssueCode(issue: Issue, value: unknown): string {
  if (issue.code === 'custom') return typeof issue.params?.code === 'string' ? issue.params.code : 'custom';
  if (issue.code === 'invalid_format') return 'invalid_string';
  // No alternative accepts a value of this type.
  if (issue.code === 'invalid_union') return 'invalid_type';
  if (issue.code !== 'invalid_value') return issue.code;
  const sample = issue.values[0];
  if (typeof value !== typeof sample || value === null) return 'invalid_type';
  return issue.values.length === 1 ? 'invalid_literal' : 'invalid_enum_value';
}

function toIssueMessage(issue: Issue, value: unknown): string {
  const missing = value === undefined && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code);
  return missing && issue.path.length > 0 ? 'Required' : issue.message;
}

/** Returns the value at a path. If a schema splits a text into a list, returns the whole text for each item. */
function getValueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
