import type { FinishedEmail, FinishedEmailInput } from '../channels/email/finished-email.ts';
import { asBuffer } from '../rules/as-buffer.ts';
import { type CsvLayout, type KnownTypes, readCsvLayout } from '../rules/contacts/csv-layout.ts';
import type { CsvMapping } from '../rules/contacts/csv-mapping.ts';
import { type CsvPreview, type CsvReview, previewCsv, reviewCsvChunk } from '../rules/contacts/csv-review.ts';
import { type CsvChunk, type CsvRange, countCsvRows, readCsvChunk } from '../rules/contacts/csv-rows.ts';
import {
  type AuthoredContent,
  type CompiledContent,
  type ContentSource,
  compileContent,
  type MessageHeaders,
  type RenderedContent,
  type RenderInput,
  renderContent,
  renderMime,
  renderSubject,
  resolveLink,
} from '../rules/content/content.ts';
import { htmlToText } from '../rules/content/content-text.ts';
import { type LiquidScope, parseTemplate, renderBounded } from '../rules/content/liquid.ts';
import { type ContentReview, reviewContent } from '../rules/content/review.ts';
import { TemplateError } from '../rules/content/template-error.ts';
import { type JsonBody, type JsonBodyRules, readJsonBody } from '../rules/json-body.ts';
import { Lru } from '../rules/lru.ts';
import type { OriginalMessage, PrepareOptions } from '../rules/mime/prepare-original.ts';
import { markTrusted, type Sourced } from '../rules/provenance/provenance.ts';
import { exceededLimit, runWithTimeLimit, threadCpuMs } from '../rules/time-limit.ts';

/** Facts about a compiled content that are useful without its compiled form. */
export interface ContentFacts {
  links: string[];
  variables: string[] | '*';
  needsUnsubscribe: boolean;
  costly: boolean;
  /** The CPU time of the compilation in milliseconds. */
  compileMs: number;
}

export interface MessageInput {
  input: RenderInput;
  headers: MessageHeaders;
}

/** A message in the form that SMTP sends, and its subject as events name it. */
export interface RenderedMessage {
  raw: string;
  subject: string;
}

/** A content with the key under which a thread keeps its compiled form. */
export interface KeyedSource {
  key: string;
  source: ContentSource;
}

/** The number of compiled contents that a thread keeps. A thread rarely works on more at the same time. */
const CONTENTS_MAX = 30;
/** Half of the limit of a sent message, so that a template that passes is not stopped on a busy day. */
const TRIAL_MS = 200;
const TOO_SLOW = 'The template takes too long: it is too large or does too much.';
const NOBODY: RenderInput = {
  vars: markTrusted({ id: '', email: 'someone@example.com', data: {} }),
  urls: { baseUrl: 'http://localhost', track: 'track', manage: 'manage' },
};
const compiledContents = new Lru<string, CompiledContent>(CONTENTS_MAX);

/**
 * All computations for tenants in threads, by name. Pure functions of values that can be copied between threads: each
 * takes one input and returns one output, or a promise of it, and keeps no state that a stopped thread would lose.
 */
export const TASKS = {
  'content.facts': ({ key, source }: KeyedSource): ContentFacts => {
    const startMs = threadCpuMs();
    const { links, variables, needsUnsubscribe, costly } = getCompiled({ key, source });
    return { links, variables, needsUnsubscribe, costly, compileMs: threadCpuMs() - startMs };
  },
  'content.parts': (p: KeyedSource & { input: RenderInput }): RenderedContent =>
    renderCompiled(getCompiled(p), p.input),
  /**
   * Renders without a contact.
   * @throws TemplateError only when that takes too long; other errors may be caused by missing data
   */
  'content.trial': (content: KeyedSource): void => {
    const ready = getCompiled(content);
    try {
      runWithTimeLimit(() => renderCompiled(ready, NOBODY), TRIAL_MS);
    } catch (error) {
      if (exceededLimit(error)) throw new TemplateError(TOO_SLOW, { field: 'body', cause: error });
    }
  },
  'content.message': ({ input, headers, ...content }: KeyedSource & MessageInput): RenderedMessage => ({
    raw: renderMime(getCompiled(content), { ...input, headers }),
    subject: renderSubject(getCompiled(content), input),
  }),
  'content.review': ({ content, input }: { content: AuthoredContent; input: RenderInput }): ContentReview =>
    reviewContent(content, input),
  'template.check': ({ text, field }: { text: string; field: 'subject' | 'body' }): void => {
    renderBounded(() => parseTemplate(text, field === 'body' ? 'html' : 'plain', field));
  },
  link: (p: { link: string; vars: Sourced<LiquidScope> }): string | undefined => resolveLink(p.link, p.vars),
  'html.text': ({ html }: { html: string }): string => htmlToText(html),
  'csv.layout': (p: {
    file: Uint8Array;
    mapping?: CsvMapping | undefined;
    knownTypes: KnownTypes;
  }): { layout: CsvLayout; rows: number } => {
    const { file } = p;
    const layout = readCsvLayout(file, p.mapping, p.knownTypes);
    return { layout, rows: countCsvRows(file, layout) };
  },
  'csv.chunk': (p: { file: Uint8Array } & CsvRange): CsvChunk => readCsvChunk(p.file, p),
  'csv.look': (p: { file: Uint8Array } & Parameters<typeof previewCsv>[1]): CsvPreview => previewCsv(p.file, p),
  'csv.review': (p: { file: Uint8Array } & Parameters<typeof reviewCsvChunk>[1]): CsvReview =>
    reviewCsvChunk(p.file, p),
  'json.body': ({ bytes, rules }: { bytes: Uint8Array; rules: JsonBodyRules }): JsonBody => readJsonBody(bytes, rules),
  /** Loaded at first use, because most threads never compose a message with files. */
  'mail.finished': async (p: FinishedEmailInput): Promise<FinishedEmail> =>
    (await import('../channels/email/finished-email.ts')).finishEmail(p),
  /** Loaded at first use, because the relay is off in most installations. */
  'mail.original': async ({ raw, p }: { raw: Uint8Array; p: PrepareOptions }): Promise<OriginalMessage> => {
    const { prepareOriginal } = await import('../rules/mime/prepare-original.ts');
    return prepareOriginal(asBuffer(raw), p);
  },
};

export type Tasks = typeof TASKS;
export type TaskName = keyof Tasks;
export type TaskResult<K extends TaskName> = Awaited<ReturnType<Tasks[K]>>;

/**
 * Returns the buffers of a result that are transferred to the caller, not copied. The thread can no longer use them.
 */
const BYTES: { [K in TaskName]?: (result: TaskResult<K>) => (Uint8Array | undefined)[] } = {
  'json.body': (body) => (body.fault === undefined ? body.files : []),
  'mail.finished': ({ raw, payload }) => [raw, payload.data],
  'mail.original': ({ message }) => [message],
};

export function transferredBuffers(name: TaskName, result: unknown): Uint8Array[] {
  const all = (BYTES[name] as ((result: unknown) => (Uint8Array | undefined)[]) | undefined)?.(result) ?? [];
  return all.filter((bytes) => bytes !== undefined);
}

export function renderCompiled(content: CompiledContent, { vars, urls }: RenderInput): RenderedContent {
  return renderContent(content, vars, urls);
}

function getCompiled({ key, source }: KeyedSource): CompiledContent {
  const kept = compiledContents.get(key);
  if (kept) return kept;
  const made = compileContent(source);
  compiledContents.set(key, made);
  return made;
}
