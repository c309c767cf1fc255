import { type Template, type Token, Tokenizer, TokenKind } from 'liquidjs';
import { runWithTimeLimit, TimeLimitExceeded } from '../time-limit.ts';
import { type Escaping, GUARDED_ENGINES, OUTPUT_MAX_CHARS, PUBLIC_ENGINES } from './liquid-engine.ts';
import { BLOCK_TAGS, type FlatToken, flatTokens, tagText } from './liquid-tokens.ts';
import { plainExpression } from './plain-expression.ts';
import { TemplateError, type TemplateField } from './template-error.ts';

/**
 * The maximum length of a body. Only images that are written into a body make it this large; Gmail cuts emails at 102
 * kB.
 */
export const TEMPLATE_MAX_CHARS = 2_000_000;

/** A valid template of a tenant. */
export interface ParsedTemplate {
  source: string;
  escaping: Escaping;
  tokens: FlatToken[];
  /** The parsed parts besides text and plain variables, for checks and analysis. */
  skeleton: Template[];
}

/** Values that a template may read: plain JSON only, because the library calls every function that it finds. */
export type LiquidScope = Record<string, unknown>;

/**
 * Checks a template of a tenant. Every error is a TemplateError with line and column of the given source.
 * @throws TemplateError
 */
export function parseTemplate(source: string, escaping: Escaping, field: TemplateField = 'body'): ParsedTemplate {
  if (source.length > TEMPLATE_MAX_CHARS)
    throw new TemplateError(`A template has at most ${TEMPLATE_MAX_CHARS} characters.`, { field });
  try {
    const tokens = flatTokens(source);
    const isGuarded = escaping === 'html' || field === 'subject';
    for (const token of outsideComments(tokens)) checkToken(token, escaping, isGuarded);
    const rest = tokens.filter((token) => token.kind === 'tag' || (token.kind === 'output' && !isPlain(token)));
    const skeleton = PUBLIC_ENGINES[escaping].parser.parseTokens(rest.map((token) => token.library()));
    return { source, escaping, tokens, skeleton };
  } catch (error) {
    throw withLocation(error, field, source);
  }
}

/** Matches sources that may have an output with an unfinished end. */
const OPEN_END = /[.|]\s*-?\}\}/;

/**
 * Finds an output that ends in `.` or `|`, such as `{{ total | }}`. Its author has not finished it, and the library
 * overlooks such an end. For new templates only, because saved ones keep working.
 */
export function findUnfinishedOutput(source: string, field: TemplateField): TemplateError | undefined {
  if (!OPEN_END.test(source)) return undefined;
  for (const { kind, content, begin } of outsideComments(flatTokens(source))) {
    const message = kind === 'output' ? unfinishedFault(content) : undefined;
    if (message !== undefined) return withLocation(new FaultAt(message, begin), field, source);
  }
  return undefined;
}

/** Returns why an expression is unfinished: it ends in `.` or `|`. Undefined if it is not. */
export function unfinishedFault(expression: string): string | undefined {
  const end = /[.|]$/.exec(expression.trimEnd())?.[0];
  return end === undefined ? undefined : `An expression cannot end in "${end}"`;
}

/** A part of a template, as `segments` returns it. */
export type TemplateSegment =
  | { kind: 'text'; text: string }
  | { kind: 'output'; content: string; nodes: () => Template[] }
  | { kind: 'block'; nodes: () => Template[] };

/**
 * Cuts a prepared template at its top level into text, outputs and whole blocks. Outputs and blocks are parsed only on
 * request, because most outputs need no parser.
 */
export function segments(source: string, escaping: Escaping): TemplateSegment[] {
  const parser = GUARDED_ENGINES[escaping].parser;
  const cut: TemplateSegment[] = [];
  let block: FlatToken[] = [];
  let depth = 0;
  for (const token of flatTokens(source)) {
    if (token.kind === 'tag') depth += depthChange(token.content);
    if (block.length > 0 || token.kind === 'tag') block.push(token);
    else if (token.kind === 'text') cut.push({ kind: 'text', text: token.content });
    else cut.push({ kind: 'output', content: token.content, nodes: () => parser.parseTokens([token.library()]) });
    if (depth === 0 && block.length > 0) {
      const tokens = block.map((token) => token.library());
      cut.push({ kind: 'block', nodes: () => parser.parseTokens(tokens) });
      block = [];
    }
  }
  return cut;
}

/** Parses a prepared template as a whole. */
export function parseGuarded(source: string, escaping: Escaping): Template[] {
  return GUARDED_ENGINES[escaping].parser.parseTokens(flatTokens(source).map((token) => token.library()));
}

/**
 * Renders parsed nodes, with the library's limits. Wrap the call in `renderBounded` if the nodes can take long. @throws
 * TemplateError if a limit is exceeded or a filter fails
 */
export function renderNodes(nodes: Template[], escaping: Escaping, scope: LiquidScope): string {
  try {
    const out: unknown = PUBLIC_ENGINES[escaping].renderSync(nodes, scope);
    const text = typeof out === 'string' ? out : String(out ?? '');
    if (text.length > OUTPUT_MAX_CHARS) throw new TemplateError('The template renders to more than is allowed.');
    return text;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(messageOf(error), { cause: error });
  }
}

/** Runs renderings that may take long within the time limit. @throws TemplateError */
export function renderBounded<T>(work: () => T): T {
  try {
    return runWithTimeLimit(work);
  } catch (error) {
    if (error instanceof TimeLimitExceeded)
      throw new TemplateError('The template takes too long: it is too large or does too much.', { cause: error });
    throw error;
  }
}

/**
 * Parses and renders at once, within a time limit. For templates that are rendered once.
 * @throws TemplateError
 */
export function renderTemplate(source: string, escaping: Escaping, scope: LiquidScope): string {
  return renderBounded(() => {
    parseTemplate(source, escaping);
    return renderNodes(parseGuarded(source, escaping), escaping, scope);
  });
}

/**
 * Lists the variables that a template reads, each as its path of names. A computed part of a path is `*` and ends it.
 * The list may include names that a template binds itself, which a contact's data does not have.
 */
export function templateVariables({ skeleton, escaping, tokens }: ParsedTemplate): string[][] {
  const analysed: unknown[][] = PUBLIC_ENGINES[escaping].globalVariableSegmentsSync(skeleton);
  const paths = analysed.map((path) => {
    const stop = path.findIndex((part) => typeof part !== 'string' && typeof part !== 'number');
    return (stop < 0 ? path : [...path.slice(0, stop), '*']).map(String);
  });
  for (const token of outsideComments(tokens)) {
    const plain = token.kind === 'output' ? plainExpression(token.content) : undefined;
    if (plain) paths.push(plain.path);
  }
  return paths;
}

/** Returns how a tag changes the number of open blocks. */
export function depthChange(tag: string): number {
  if (BLOCK_TAGS.has(tag)) return 1;
  return tag.startsWith('end') ? -1 : 0;
}

function isPlain(token: FlatToken): boolean {
  return plainExpression(token.content) !== undefined && !token.content.includes('__guard');
}

/** Returns the tokens outside `{% comment %}`, where any text is allowed. */
export function outsideComments(tokens: FlatToken[]): FlatToken[] {
  let depth = 0;
  return tokens.filter((token) => {
    if (token.kind === 'tag' && token.content === 'comment') depth++;
    if (token.kind === 'tag' && token.content === 'endcomment') depth--;
    return depth === 0;
  });
}

/**
 * Checks a token separately, so that an error of an output has its own position. Also refuses constructs that the
 * library ignores silently: a second value in an output, and variables in `cycle`, which no guard would protect
 * there.
 */
function checkToken(token: FlatToken, escaping: Escaping, isGuarded: boolean): void {
  if (token.kind === 'output' && !isPlain(token)) {
    checkAt(token, () => {
      const reader = new Tokenizer(token.content);
      if (!isOneValue(reader.readFilteredValue().initial.postfix) || reader.remaining().trim() !== '')
        throw new Error('an output holds one value and its filters');
      // The guard of a value is one more filter, which could not follow an empty one.
      if (isGuarded && token.content.trimEnd().endsWith('|')) throw new Error(unfinishedFault(token.content));
      PUBLIC_ENGINES[escaping].parser.parseToken(token.library(), []);
    });
  } else if (token.kind === 'tag' && token.content === 'cycle') {
    const bare = tagText(token)
      .slice('cycle'.length)
      .replace(/"[^"]*"|'[^']*'/g, '');
    if (/[A-Za-z_]/.test(bare))
      checkAt(token, () => {
        throw new Error('cycle takes literal strings only');
      });
  }
}

/** Tells whether an output has one value. `first name` is two values, of which the library would silently drop one. */
function isOneValue(postfix: Token[]): boolean {
  const binary = postfix.filter((token) => token.kind === TokenKind.Operator && token.getText().trim() !== 'not');
  const values = postfix.filter((token) => token.kind !== TokenKind.Operator);
  return values.length === binary.length + 1;
}

/** An error with its offset in the source. */
class FaultAt extends Error {
  readonly offset: number;

  constructor(cause: unknown, offset: number) {
    super(messageOf(cause), { cause });
    this.offset = offset;
  }
}

function checkAt(token: FlatToken, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new FaultAt(error, token.begin);
  }
}

/** Returns the library's message without its own position. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/, line:\d+, col:\d+$/s, '');
}

function withLocation(error: unknown, field: TemplateField, source: string): TemplateError {
  const before = source.slice(0, error instanceof FaultAt ? error.offset : libraryOffset(error)).split('\n');
  return new TemplateError(messageOf(error), {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    field,
    cause: error,
  });
}

function libraryOffset(error: unknown): number {
  const token: unknown = error instanceof Error && 'token' in error ? error.token : undefined;
  return typeof token === 'object' && token !== null && 'begin' in token ? Number(token.begin) : 0;
}
