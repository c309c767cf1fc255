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
import { type LiquidScope, parseTemplate, runWithTemplateLimit } from '../rules/content/liquid.ts';
import { type ContentReview, reviewContent } from '../rules/content/review.ts';
import { TemplateError } from '../rules/content/template-error.ts';
import { type JsonBody, type JsonBodyRules, readJsonBody } from '../rules/json-body.ts';
import { Lru } from '../rules/lru.ts';
import type { OriginalMessage, PrepareOptions } from '../rules/mime/prepare-original.ts';
import { markTrusted, type Sourced } from '../rules/provenance/provenance.ts';
import { isLimitError, readThreadCpuMs, runWithTimeLimit } from '../rules/time-limit.ts';

/** Facts about a compiled content. A thread returns them, because it cannot send the compiled form. */
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

/** A message in the form that SMTP sends, and its subject as plain text. */
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
/**
 * The time limit of a trial rendering: half of the limit for sending. A template that passes the trial is then not
 * stopped when the machine is busy.
 */
const TRIAL_MS = 200;
const TOO_SLOW = 'The template takes too long: it is too large or does too much.';
const NO_CONTACT: RenderInput = {
  vars: markTrusted({ id: '', email: 'someone@example.com', data: {} }),
  urls: { baseUrl: 'http://localhost', track: 'track', manage: 'manage' },
};
const compiledContents = new Lru<string, CompiledContent>(CONTENTS_MAX);

/**
 * All computations that threads run for tenants, by name. They are pure functions: each takes one input and returns one
 * output or a promise. A stopped thread loses only its cache of compiled contents. Inputs and outputs can be copied
 * between threads.
 */
export const TASKS = {
  'content.facts': ({ key, source }: KeyedSource): ContentFacts => {
    const startMs = readThreadCpuMs();
    const { links, variables, needsUnsubscribe, costly } = getCompiled({ key, source });
    return { links, variables, needsUnsubscribe, costly, compileMs: readThreadCpuMs() - startMs };
  },
  'content.parts': (p: KeyedSource & { input: RenderInput }): RenderedContent =>
    renderCompiled(getCompiled(p), p.input),
  /**
   * Renders the content with an empty contact. Ignores errors that missing data may cause.
   * @throws TemplateError if the content does not compile, or the rendering takes too long
   */
  'content.trial': (content: KeyedSource): void => {
    const ready = getCompiled(content);
    try {
      runWithTimeLimit(() => renderCompiled(ready, NO_CONTACT), TRIAL_MS);
    } catch (error) {
      if (isLimitError(error)) throw new TemplateError(TOO_SLOW, { field: 'body', cause: error });
    }
  },
  'content.message': ({ input, headers, ...content }: KeyedSource & MessageInput): RenderedMessage => ({
    raw: renderMime(getCompiled(content), { ...input, headers }),
    subject: renderSubject(getCompiled(content), input),
  }),
  'content.review': ({ content, input }: { content: AuthoredContent; input: RenderInput }): ContentReview =>
    reviewContent(content, input),
  'template.check': ({ text, field }: { text: string; field: 'subject' | 'body' }): void => {
    runWithTemplateLimit(() => parseTemplate(text, field === 'body' ? 'html' : 'plain', field));
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
  'csv.preview': (p: { file: Uint8Array } & Parameters<typeof previewCsv>[1]): CsvPreview => previewCsv(p.file, p),
  'csv.review': (p: { file: Uint8Array } & Parameters<typeof reviewCsvChunk>[1]): CsvReview =>
    reviewCsvChunk(p.file, p),
  'json.body': ({ bytes, rules }: { bytes: Uint8Array; rules: JsonBodyRules }): JsonBody => readJsonBody(bytes, rules),
  /** Loaded at first use, because most threads never compose a message with files. */
  'email.finish': async (p: FinishedEmailInput): Promise<FinishedEmail> =>
    (await import('../channels/email/finished-email.ts')).buildFinishedEmail(p),
  /** Loaded at first use, because the relay is off in most installations. */
  'email.original': async ({ raw, p }: { raw: Uint8Array; p: PrepareOptions }): Promise<OriginalMessage> => {
    const { prepareOriginal } = await import('../rules/mime/prepare-original.ts');
    return prepareOriginal(asBuffer(raw), p);
  },
};

export type Tasks = typeof TASKS;
export type TaskName = keyof Tasks;
export type TaskResult<K extends TaskName> = Awaited<ReturnType<Tasks[K]>>;

/**
 * Tasks whose results contain large arrays. For each, a function that returns the arrays of the result that are
 * transferred to the caller, not copied. The thread can no longer use these arrays.
 */
const ARRAYS_TO_TRANSFER: { [K in TaskName]?: (result: TaskResult<K>) => (Uint8Array | undefined)[] } = {
  'json.body': (body) => (body.fault === undefined ? body.files : []),
  'email.finish': ({ raw, payload }) => [raw, payload.data],
  'email.original': ({ message }) => [message],
};

/** Returns the arrays of a task's result whose buffers are transferred to the caller. */
export function listArraysToTransfer(name: TaskName, result: unknown): Uint8Array[] {
  const all =
    (ARRAYS_TO_TRANSFER[name] as ((result: unknown) => (Uint8Array | undefined)[]) | undefined)?.(result) ?? [];
  return all.filter((bytes) => bytes !== undefined);
}

export function renderCompiled(content: CompiledContent, { vars, urls }: RenderInput): RenderedContent {
  return renderContent(content, vars, urls);
}

function getCompiled({ key, source }: KeyedSource): CompiledContent {
  const cached = compiledContents.get(key);
  if (cached) return cached;
  const compiled = compileContent(source);
  compiledContents.set(key, compiled);
  return compiled;
}
