import { randomUUID } from 'node:crypto';
import {
  type AuthoredContent,
  type CompiledContent,
  type ContentSource,
  compileContent,
  listContentTemplates,
  type RenderedContent,
  type RenderInput,
  renderMime,
  renderSubject,
  resolveLink,
  toContentSource,
} from '../rules/content/content.ts';
import type { LiquidScope } from '../rules/content/liquid.ts';
import { type ContentReview, reviewContent } from '../rules/content/review.ts';
import type { Sourced } from '../rules/provenance/provenance.ts';
import type { Compute, Work } from './compute.ts';
import { type ContentFacts, type MessageInput, type RenderedMessage, renderCompiled } from './tasks.ts';

/**
 * Content up to these sizes is compiled on the main thread, which takes a few milliseconds. Larger content might take
 * more than 100 ms, so a worker thread compiles it first.
 */
const SMALL_CHARS = 16 * 1024;
/** The limit of Liquid tags, outputs and links together. */
const SMALL_TOKENS = 40;
/**
 * If a worker thread compiled a content within this time, and the content has no costly parts, the main thread compiles
 * the content too. The main thread then renders its messages.
 */
const COMPILE_HERE_MS = 50;
const TOKEN = /\{[{%]|<a\s/gi;

/** Compiled content, which renders on the main thread or in a worker thread. */
export interface ReadyContent extends Omit<ContentFacts, 'costly' | 'compileMs'> {
  /**
   * Set if the main thread compiled the content, and the content has no costly parts. The main thread then renders each
   * message, in microseconds.
   */
  readonly compiled: CompiledContent | undefined;
  readonly key: string;
  readonly source: ContentSource;
}

/**
 * Compiles small content on the main thread, and larger content in a worker thread.
 * @throws TemplateError, OverBudget
 */
export async function compileForSending(compute: Compute, work: Work, source: ContentSource): Promise<ReadyContent> {
  const key = randomUUID();
  if (isQuickToCompile(listContentTemplates(source))) {
    const compiled = compileContent(source);
    return createReadyContent(compiled, { compiled: compiled.costly ? undefined : compiled, key, source });
  }
  const facts = await compute.runInThread(work, 'content.facts', { key, source });
  const rendersHere = !facts.costly && facts.compileMs <= COMPILE_HERE_MS;
  return createReadyContent(facts, { compiled: rendersHere ? compileContent(source) : undefined, key, source });
}

/** Renders the message as plain strings. @throws TemplateError, OverBudget */
export async function renderToStrings(
  compute: Compute,
  work: Work,
  { content, input }: { content: ReadyContent; input: RenderInput },
): Promise<RenderedContent> {
  const { compiled, key, source } = content;
  return compiled
    ? renderCompiled(compiled, input)
    : compute.runInThread(work, 'content.parts', { key, source, input });
}

/** Renders the MIME message that SMTP sends, and its subject as plain text. @throws TemplateError, OverBudget */
export async function renderMessage(
  compute: Compute,
  work: Work,
  { content, input, headers }: MessageInput & { content: ReadyContent },
): Promise<RenderedMessage> {
  const { compiled, key, source } = content;
  if (compiled) return { raw: renderMime(compiled, { ...input, headers }), subject: renderSubject(compiled, input) };
  return compute.runInThread(work, 'content.message', { key, source, input, headers });
}

/**
 * Renders a content for one recipient, and lists problems for the author of the content.
 * @throws TemplateError, OverBudget
 */
export async function reviewWithinBudget(
  compute: Compute,
  work: Work,
  { content, input }: { content: AuthoredContent; input: RenderInput },
): Promise<ContentReview> {
  // Copies only the fields to render, because the caller may pass a whole campaign.
  const source = toContentSource(content, false);
  const rendersHere = isQuickToCompile(listContentTemplates(source)) && !compileContent(source).costly;
  return rendersHere
    ? reviewContent(source, input)
    : compute.runInThread(work, 'content.review', { content: source, input });
}

/**
 * Returns the target of a stored link (see `resolveLink`).
 *
 * @throws TemplateError, OverBudget
 */
export async function resolveLinkWithinBudget(
  compute: Compute,
  work: Work,
  p: { link: string; vars: Sourced<LiquidScope> },
): Promise<string | undefined> {
  // A link with a Liquid filter may take long, so a worker thread resolves it.
  return p.link.includes('|') ? compute.runInThread(work, 'link', p) : resolveLink(p.link, p.vars);
}

function createReadyContent(
  { links, variables, needsUnsubscribe }: Pick<ContentFacts, 'links' | 'variables' | 'needsUnsubscribe'>,
  rest: Pick<ReadyContent, 'compiled' | 'key' | 'source'>,
): ReadyContent {
  return { links, variables, needsUnsubscribe, ...rest };
}

/** Tells whether the templates together compile in a few milliseconds. */
export function isQuickToCompile(templates: string[]): boolean {
  const chars = templates.reduce((sum, template) => sum + template.length, 0);
  if (chars > SMALL_CHARS) return false;
  return templates.reduce((sum, template) => sum + (template.match(TOKEN)?.length ?? 0), 0) <= SMALL_TOKENS;
}
