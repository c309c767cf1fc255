import { type Template, type Token, Tokenizer, TokenKind } from 'liquidjs';
import { runWithTimeLimit, TimeLimitExceeded } from '../time-limit.ts';
import { type Escaping, GUARDED_ENGINES, OUTPUT_MAX_CHARS, PUBLIC_ENGINES } from './liquid-engine.ts';
import { BLOCK_TAGS, type FlatToken, getTagText, tokenize } from './liquid-tokens.ts';
import { parsePlainExpression } from './plain-expression.ts';
import { TemplateError, type TemplateField } from './template-error.ts';

/**
 * The maximum length of a template. Only a body with inline images (data URLs) is this large. Gmail hides everything
 * after 102 kB.
 */
export const TEMPLATE_MAX_CHARS = 2_000_000;

/** A tenant's template after its check. */
export interface ParsedTemplate {
  source: string;
  escaping: Escaping;
  tokens: FlatToken[];
  /** The parsed tags and outputs, without text and plain variables. Checks and analysis need only these. */
  skeleton: Template[];
}

/**
 * The values that a template may read. The values are plain JSON, because the library would call any function among
 * them.
 */
export type LiquidScope = Record<string, unknown>;

/**
 * Parses and checks a tenant's template. Every error is a TemplateError with the line and column in `source`.
 * @throws TemplateError
 */
export function parseTemplate(source: string, escaping: Escaping, field: TemplateField = 'body'): ParsedTemplate {
  if (source.length > TEMPLATE_MAX_CHARS)
    throw new TemplateError(`A template has at most ${TEMPLATE_MAX_CHARS} characters.`, { field });
  try {
    const tokens = tokenize(source);
    const isGuarded = escaping === 'html' || field === 'subject';
    for (const token of omitCommentTokens(tokens)) checkToken(token, escaping, isGuarded);
    const rest = tokens.filter((token) => token.kind === 'tag' || (token.kind === 'output' && !isPlain(token)));
    const skeleton = PUBLIC_ENGINES[escaping].parser.parseTokens(rest.map((token) => token.library()));
    return { source, escaping, tokens, skeleton };
  } catch (error) {
    throw toLocatedError(error, field, source);
  }
}

/** Matches a source that may contain an output with an unfinished end. */
const OPEN_END = /[.|]\s*-?\}\}/;

/**
 * Finds an output that ends in `.` or `|`, such as `{{ total | }}`. The author has not finished such an output, and the
 * library ignores its end. Call this function for new templates only, so that saved templates keep working.
 */
export function findUnfinishedOutput(source: string, field: TemplateField): TemplateError | undefined {
  if (!OPEN_END.test(source)) return undefined;
  for (const { kind, content, begin } of omitCommentTokens(tokenize(source))) {
    const message = kind === 'output' ? findUnfinishedEndError(content) : undefined;
    if (message !== undefined) return toLocatedError(new ErrorAt(message, begin), field, source);
  }
  return undefined;
}

/**
 * Returns an error message if an expression ends in `.` or `|`, so it is unfinished. Undefined for other expressions.
 */
export function findUnfinishedEndError(expression: string): string | undefined {
  const end = /[.|]$/.exec(expression.trimEnd())?.[0];
  return end === undefined ? undefined : `An expression cannot end in "${end}"`;
}

/** A part of a template: text, an output, or a whole block. */
export type TemplateSegment =
  | { kind: 'text'; text: string }
  | { kind: 'output'; content: string; nodes: () => Template[] }
  | { kind: 'block'; nodes: () => Template[] };

/**
 * Cuts a prepared template at its top level into text, outputs and whole blocks. Outputs and blocks are parsed only
 * when `nodes` is called, because most outputs need no parser.
 */
export function cutSegments(source: string, escaping: Escaping): TemplateSegment[] {
  const parser = GUARDED_ENGINES[escaping].parser;
  const result: TemplateSegment[] = [];
  let block: FlatToken[] = [];
  let depth = 0;
  for (const token of tokenize(source)) {
    if (token.kind === 'tag') depth += getDepthChange(token.content);
    if (block.length > 0 || token.kind === 'tag') block.push(token);
    else if (token.kind === 'text') result.push({ kind: 'text', text: token.content });
    else result.push({ kind: 'output', content: token.content, nodes: () => parser.parseTokens([token.library()]) });
    if (depth === 0 && block.length > 0) {
      const tokens = block.map((token) => token.library());
      result.push({ kind: 'block', nodes: () => parser.parseTokens(tokens) });
      block = [];
    }
  }
  return result;
}

/** Parses a prepared template as a whole. */
export function parseWholeTemplate(source: string, escaping: Escaping): Template[] {
  return GUARDED_ENGINES[escaping].parser.parseTokens(tokenize(source).map((token) => token.library()));
}

/**
 * Renders parsed nodes with the library's limits on memory. If rendering can take long, call this function within
 * `runWithTemplateLimit`.
 * @throws TemplateError if a limit is exceeded or a filter fails
 */
export function renderNodes(nodes: Template[], escaping: Escaping, scope: LiquidScope): string {
  try {
    const out: unknown = PUBLIC_ENGINES[escaping].renderSync(nodes, scope);
    const text = typeof out === 'string' ? out : String(out ?? '');
    if (text.length > OUTPUT_MAX_CHARS) throw new TemplateError('The template renders to more than is allowed.');
    return text;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(readMessage(error), { cause: error });
  }
}

/** Runs work that may take long, such as parsing or rendering. @throws TemplateError if it exceeds the time limit */
export function runWithTemplateLimit<T>(work: () => T): T {
  try {
    return runWithTimeLimit(work);
  } catch (error) {
    if (error instanceof TimeLimitExceeded)
      throw new TemplateError('The template takes too long: it is too large or does too much.', { cause: error });
    throw error;
  }
}

/**
 * Parses and renders a template with the time limit. For templates that are rendered only once.
 * @throws TemplateError
 */
export function renderTemplate(source: string, escaping: Escaping, scope: LiquidScope): string {
  return runWithTemplateLimit(() => {
    parseTemplate(source, escaping);
    return renderNodes(parseWholeTemplate(source, escaping), escaping, scope);
  });
}

/**
 * Lists the variables that a template reads, each as a path of names. A path ends at its first computed part, which is
 * written as `*`. The list may include names that the template defines itself, which are not contact data.
 */
export function listTemplateVariables({ skeleton, escaping, tokens }: ParsedTemplate): string[][] {
  const libraryPaths: unknown[][] = PUBLIC_ENGINES[escaping].globalVariableSegmentsSync(skeleton);
  const paths = libraryPaths.map((path) => {
    const stop = path.findIndex((part) => typeof part !== 'string' && typeof part !== 'number');
    return (stop < 0 ? path : [...path.slice(0, stop), '*']).map(String);
  });
  for (const token of omitCommentTokens(tokens)) {
    const plain = token.kind === 'output' ? parsePlainExpression(token.content) : undefined;
    if (plain) paths.push(plain.path);
  }
  return paths;
}

/** Returns how a tag changes the number of open blocks: 1, -1 or 0. */
export function getDepthChange(tag: string): number {
  if (BLOCK_TAGS.has(tag)) return 1;
  return tag.startsWith('end') ? -1 : 0;
}

function isPlain(token: FlatToken): boolean {
  return parsePlainExpression(token.content) !== undefined && !token.content.includes('__guard');
}

/** Returns the tokens outside `{% comment %}`, where any text is allowed. */
export function omitCommentTokens(tokens: FlatToken[]): FlatToken[] {
  let depth = 0;
  return tokens.filter((token) => {
    if (token.kind === 'tag' && token.content === 'comment') depth++;
    if (token.kind === 'tag' && token.content === 'endcomment') depth--;
    return depth === 0;
  });
}

/**
 * Checks one token, so that an error has the position of this token. Also refuses text that the library would ignore,
 * such as a second value in an output, and variables in `cycle`, because no guard would protect them there.
 */
function checkToken(token: FlatToken, escaping: Escaping, isGuarded: boolean): void {
  if (token.kind === 'output' && !isPlain(token)) {
    checkAt(token, () => {
      const reader = new Tokenizer(token.content);
      if (!isOneValue(reader.readFilteredValue().initial.postfix) || reader.remaining().trim() !== '')
        throw new Error('an output holds one value and its filters');
      // The service adds its guard as one more filter, which cannot follow an empty filter.
      if (isGuarded && token.content.trimEnd().endsWith('|')) throw new Error(findUnfinishedEndError(token.content));
      PUBLIC_ENGINES[escaping].parser.parseToken(token.library(), []);
    });
  } else if (token.kind === 'tag' && token.content === 'cycle') {
    const bare = getTagText(token)
      .slice('cycle'.length)
      .replace(/"[^"]*"|'[^']*'/g, '');
    if (/[A-Za-z_]/.test(bare))
      checkAt(token, () => {
        throw new Error('cycle takes literal strings only');
      });
  }
}

/**
 * Tells whether an output has exactly one value. `first name` has two values, and the library would silently ignore one
 * of them.
 */
function isOneValue(postfix: Token[]): boolean {
  const binary = postfix.filter((token) => token.kind === TokenKind.Operator && token.getText().trim() !== 'not');
  const values = postfix.filter((token) => token.kind !== TokenKind.Operator);
  return values.length === binary.length + 1;
}

/** An error with the offset of its token in the source. */
class ErrorAt extends Error {
  readonly offset: number;

  constructor(cause: unknown, offset: number) {
    super(readMessage(cause), { cause });
    this.offset = offset;
  }
}

function checkAt(token: FlatToken, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new ErrorAt(error, token.begin);
  }
}

/** Returns the message of an error without the position that the library adds. */
function readMessage(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/, line:\d+, col:\d+$/s, '');
}

function toLocatedError(error: unknown, field: TemplateField, source: string): TemplateError {
  const before = source.slice(0, error instanceof ErrorAt ? error.offset : readLibraryOffset(error)).split('\n');
  return new TemplateError(readMessage(error), {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    field,
    cause: error,
  });
}

function readLibraryOffset(error: unknown): number {
  const token: unknown = error instanceof Error && 'token' in error ? error.token : undefined;
  return typeof token === 'object' && token !== null && 'begin' in token ? Number(token.begin) : 0;
}
