import type { Data } from '../filters/data-values.ts';
import { readOwnValue } from '../own-value.ts';
import { findLocalNames, listExpressionNames, URL_VARIABLES } from './content-names.ts';
import { parseTemplates } from './content-prepare.ts';
import type { EmailTemplates } from './email-text.ts';
import { omitCommentTokens } from './liquid.ts';
import { type FlatToken, getTagText } from './liquid-tokens.ts';
import { parsePlainExpression } from './plain-expression.ts';

/** Variables that exist in every message. */
const ALWAYS_PRESENT: ReadonlySet<string> = new Set(['id', 'email', ...URL_VARIABLES]);
const LOOP_COUNTERS: ReadonlySet<string> = new Set(['forloop', 'tablerowloop']);
const CONDITION_TAG = /^(?:if|unless|elsif|case|when)$/;

/**
 * Lists the contact data that templates print without a fallback, as sorted paths such as `order.total`, without a
 * leading `data.`. An email to a contact without this data has a gap. A variable counts as one with a fallback if its
 * output has `??` or `default`, or if the template tests the variable anywhere in an `if`, `unless` or `case`.
 * @throws TemplateError
 */
export function listRequiredVariables(templates: EmailTemplates): string[] {
  const parsed = Object.values(parseTemplates(templates));
  return [...new Set(parsed.flatMap(({ tokens }) => findRequired(omitCommentTokens(tokens))))].sort();
}

/** Lists the required variables that have no value, or an empty value, in the variables of a message. */
export function listMissingVariables(required: readonly string[], vars: Readonly<Data>): string[] {
  return required.filter((path) => isEmpty(readOwnValue(vars, path.split('.'))));
}

function findRequired(tokens: FlatToken[]): string[] {
  const locals = findLocalNames(tokens);
  const tested = new Set(
    tokens.filter((token) => token.kind === 'tag' && CONDITION_TAG.test(token.content)).flatMap(listVariablesInTag),
  );
  const printed = tokens.filter((token) => token.kind === 'output' && !/\|\s*default\b/.test(token.content));
  const paths = printed.flatMap((token) => listDataPaths(token.content, locals));
  return paths.filter((path) => !ALWAYS_PRESENT.has(path) && !tested.has(path));
}

/**
 * Lists the variables in a tag such as `if`. Without its end tag, the library cannot parse such a tag, so the names are
 * found by a pattern.
 */
function listVariablesInTag(token: FlatToken): string[] {
  return [...getTagText(token).matchAll(/[\p{L}_][\p{L}\p{N}_.-]*/gu)].map(([name]) => removeDataPrefix(name));
}

function listDataPaths(expression: string, locals: ReadonlySet<string>): string[] {
  const plain = parsePlainExpression(expression);
  const names = plain ? [plain.path.join('.')] : listExpressionNames(expression, locals);
  return names.filter((name) => !isTemplateName(name, locals)).map(removeDataPrefix);
}

/** Tells whether the template itself defines a name. Also true for `*`, a name that is known only during rendering. */
function isTemplateName(path: string, locals: ReadonlySet<string>): boolean {
  const root = path.split('.', 1)[0] ?? '*';
  return root === '*' || LOOP_COUNTERS.has(root) || locals.has(root);
}

function removeDataPrefix(path: string): string {
  return path.replace(/^data\./, '');
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
