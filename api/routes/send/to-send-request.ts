import type { Compute } from '../../../compute/compute.ts';
import { isQuickToCompile } from '../../../compute/contents.ts';
import { parseTemplate, runWithTemplateLimit } from '../../../rules/content/liquid.ts';
import { TemplateError, toTemplateRefusal } from '../../../rules/content/template-error.ts';
import type { Recipient, SendAttachment, SendRequest } from '../../../rules/emails/send-request.ts';
import { AppError } from '../../../rules/errors.ts';
import { parseDataChanges } from '../../../rules/filters/data-values.ts';
import { Lru } from '../../../rules/lru.ts';
import { markTrusted } from '../../../rules/provenance/provenance.ts';
import { resolveAliases } from '../../http/aliases.ts';
import { checkAttachments, type SendInput } from './input.ts';

/** The caller of a send request, and the settings that apply to it. */
export type SendCaller = Pick<
  SendRequest,
  'projectId' | 'mode' | 'monthlyEmailLimit' | 'idempotencyKey' | 'fingerprint' | 'owner' | 'request'
> & {
  attachmentsMaxBytes: number;
  /** The decoded attachments, in the order of the body. */
  files: (Uint8Array | undefined)[];
};

/**
 * Converts a parsed body to a send request.
 * @throws AppError VALIDATION_ERROR for data beyond its limits and templates that do not parse; PAYLOAD_TOO_LARGE
 */
export function toSendRequest(input: SendInput, caller: SendCaller): SendRequest {
  const { set, remove, oneOff, errors } = parseDataChanges(input.data);
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
  checkTemplate(input.subject, 'subject');
  checkTemplate(input.body, 'body');
  const { messageId, headers } = splitMessageId(input.headers ?? {});
  return {
    // Lists the fields instead of spreading `caller`, because V8 cannot optimize the shape of a spread object, which
    // costs each request 5 µs and 3 kB.
    projectId: caller.projectId,
    mode: caller.mode,
    monthlyEmailLimit: caller.monthlyEmailLimit,
    idempotencyKey: caller.idempotencyKey,
    fingerprint: caller.fingerprint,
    owner: caller.owner,
    request: caller.request,
    to: toRecipients(input),
    subject: input.subject,
    body: input.body,
    templateId: input.template,
    from: input.from && { email: input.from.email, name: input.from.name ?? (input.name || null) },
    replyTo: input.replyTo === undefined ? input.reply : resolveAliases({ reply: input.reply, replyTo: input.replyTo }),
    messageId,
    subscribed: input.subscribed,
    data: { set, remove, oneOff: markTrusted(oneOff) },
    headers,
    attachments: toAttachments(input.attachments ?? [], caller),
  };
}

/**
 * Checks templates that are too large to parse on the main thread. Call it before `toSendRequest`, which checks the
 * smaller templates.
 * @throws AppError VALIDATION_ERROR, RATE_LIMIT_EXCEEDED
 */
export async function checkLargeTemplates(compute: Compute, p: { projectId: string; input: SendInput }): Promise<void> {
  const { projectId, input } = p;
  for (const field of ['subject', 'body'] as const) {
    const text = input[field];
    if (text === undefined || !isLiquid(text) || parsedTemplates[field].has(text) || isQuickToCompile([text])) continue;
    try {
      await compute.runInThread({ projectId, kind: 'template.check' }, 'template.check', { text, field });
    } catch (error) {
      throw error instanceof TemplateError ? toTemplateRefusal(error) : error;
    }
  }
}

/**
 * Returns the recipients of all fields. If an address is in several fields, `to` has precedence over `cc`, and `cc`
 * over `bcc`.
 */
function toRecipients({ to, cc = [], bcc = [] }: Pick<SendInput, 'to' | 'cc' | 'bcc'>): Recipient[] {
  const withRole = (role: 'cc' | 'bcc') => (recipient: Recipient) => ({ ...recipient, role });
  return removeDuplicates([...[to].flat(), ...cc.map(withRole('cc')), ...bcc.map(withRole('bcc'))]);
}

function splitMessageId(headersInput: Record<string, string>) {
  const isId = ([name]: [string, string]) => name.toLowerCase() === 'message-id';
  const entries = Object.entries(headersInput);
  const headers = Object.fromEntries(entries.filter((entry) => !isId(entry)));
  return { messageId: entries.find(isId)?.[1].trim(), headers };
}

/** Removes duplicate addresses. `Ada@…` and `ada@…` are the same contact, who gets one email. */
function removeDuplicates(recipients: Recipient[]): Recipient[] {
  const byEmail = new Map<string, Recipient>();
  for (const recipient of recipients) if (!byEmail.has(recipient.email)) byEmail.set(recipient.email, recipient);
  return [...byEmail.values()];
}

function toAttachments(
  files: NonNullable<SendInput['attachments']>,
  caller: Pick<SendCaller, 'files' | 'attachmentsMaxBytes'>,
): SendAttachment[] {
  const attachments = files.map((file, n) => ({
    filename: file.filename,
    contentType: file.contentType,
    disposition: file.alternative ? ('alternative' as const) : file.disposition,
    contentId: file.contentId ?? null,
    content: toBuffer(caller.files[n]),
  }));
  checkAttachments(attachments, caller.attachmentsMaxBytes);
  return attachments;
}

function toBuffer(bytes: Uint8Array | undefined): Buffer {
  if (!bytes) throw new Error('a checked attachment has no bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Subjects and bodies that have been parsed without an error. Most callers send the same few templates, which then need
 * not be parsed again. Only short templates are cached, to limit the memory.
 */
const parsedTemplates = { subject: new Lru<string, true>(500), body: new Lru<string, true>(500) };

const CACHED_MAX_CHARS = 20_000;

function checkTemplate(text: string | undefined, field: 'subject' | 'body'): void {
  if (text === undefined || !isLiquid(text) || parsedTemplates[field].has(text) || !isQuickToCompile([text])) return;
  try {
    runWithTemplateLimit(() => parseTemplate(text, field === 'body' ? 'html' : 'plain', field));
  } catch (error) {
    throw error instanceof TemplateError ? toTemplateRefusal(error) : error;
  }
  if (text.length <= CACHED_MAX_CHARS) parsedTemplates[field].set(text, true);
}

function isLiquid(text: string): boolean {
  return /\{[{%]/.test(text);
}
