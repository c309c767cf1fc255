import type { Data } from '../filters/data-values.ts';
import { ownValueAt } from '../own-value.ts';
import { localNames, outputNames, URL_VARIABLES } from './content-names.ts';
import { parseTemplates } from './content-prepare.ts';
import type { EmailTemplates } from './email-text.ts';
import { outsideComments } from './liquid.ts';
import { type FlatToken, tagText } from './liquid-tokens.ts';
import { plainExpression } from './plain-expression.ts';

/** Variables of every message. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['id', 'email', ...URL_VARIABLES]);
const LOOP_COUNTERS: ReadonlySet<string> = new Set(['forloop', 'tablerowloop']);
const CHOICES = /^(?:if|unless|elsif|case|when)$/;

/**
 * Lists the contact data that templates print without a fallback for contacts that lack it, as dotted paths without a
 * leading `data.`, in order. A variable with `??` or `default`, or tested in an `if`, has a fallback.
 * @throws TemplateError
 */
export function requiredVariables(templates: EmailTemplates): string[] {
  const parsed = Object.values(parseTemplates(templates));
  return [...new Set(parsed.flatMap(({ tokens }) => requiredBy(outsideComments(tokens))))].sort();
}

/** Lists the required variables without a value, or with an empty one, in a message's variables. */
export function missingVariables(required: readonly string[], vars: Readonly<Data>): string[] {
  return required.filter((path) => isEmpty(ownValueAt(vars, path.split('.'))));
}

function requiredBy(tokens: FlatToken[]): string[] {
  const locals = localNames(tokens);
  const asked = new Set(
    tokens.filter((token) => token.kind === 'tag' && CHOICES.test(token.content)).flatMap(variablesInTag),
  );
  const printed = tokens.filter((token) => token.kind === 'output' && !/\|\s*default\b/.test(token.content));
  const paths = printed.flatMap((token) => pathsOf(token.content, locals));
  return paths.filter((path) => !ALWAYS_THERE.has(path) && !asked.has(path));
}

/** Lists the variables in a tag. A tag of a choice cannot be parsed without its end, so only its expression is read. */
function variablesInTag(token: FlatToken): string[] {
  return [...tagText(token).matchAll(/[\p{L}_][\p{L}\p{N}_.-]*/gu)].map(([name]) => withoutData(name));
}

function pathsOf(expression: string, locals: ReadonlySet<string>): string[] {
  const plain = plainExpression(expression);
  const names = plain ? [plain.path.join('.')] : outputNames(expression, locals);
  return names.filter((name) => !isTemplateName(name, locals)).map(withoutData);
}

/** Tells whether a name belongs to the template itself. True for `*`, a name that only a rendering knows. */
function isTemplateName(path: string, locals: ReadonlySet<string>): boolean {
  const root = path.split('.', 1)[0] ?? '*';
  return root === '*' || LOOP_COUNTERS.has(root) || locals.has(root);
}

function withoutData(path: string): string {
  return path.replace(/^data\./, '');
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
