import type { MessageContent } from '../../channels/email/finished-email.ts';
import { buildMessage, type MessageParts } from '../../channels/email/mime.ts';
import { completeRelayedMessage, type OriginalInput } from '../../channels/email/original.ts';
import type { OutgoingEmail } from '../../channels/email/provider.ts';
import type { Compute, RunPrepaidTask, Work } from '../../compute/compute.ts';
import { createContentCache } from '../../compute/content-cache.ts';
import { type ReadyContent, renderMessage, renderToStrings } from '../../compute/contents.ts';
import type { Db } from '../../db/connection.ts';
import { findAttachments, readLargeAttachments, sumAttachmentBytes } from '../../db/contents/attachments.ts';
import type { Content } from '../../db/contents/contents.ts';
import { findShownRecipients } from '../../db/emails/emails.ts';
import type { ClaimedEmail } from '../../db/sending/email-ledger.ts';
import { deriveKey, unsealSecret } from '../../rules/access/secrets.ts';
import { asBuffer } from '../../rules/as-buffer.ts';
import type { Config } from '../../rules/config.ts';
import { buildListUnsubscribeHeaders } from '../../rules/content/content.ts';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { isTracked } from '../../rules/content/message-tracking.ts';
import { buildVariables } from '../../rules/content/variables.ts';
import { emailDomain } from '../../rules/emails/email-address.ts';
import type { EmailEventData } from '../../rules/emails/email-event.ts';
import { isLargeEmail } from '../../rules/emails/large-email.ts';
import { getMessageId } from '../../rules/emails/message-id.ts';
import { sealedVariablesContext } from '../../rules/emails/sealed-variables.ts';
import { createVerpAddress } from '../../rules/emails/verp.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { HeaderMailbox } from '../../rules/mime/mime-headers.ts';
import { markTrusted, overrideValues } from '../../rules/provenance/provenance.ts';
import { createDkimSigners, type DkimSigners } from './dkim-keys.ts';

/**
 * The longest time that an email waits for the project's computing budget. If the wait would be longer, the email is
 * attempted later.
 */
const WAIT_HERE_MS = 300;

/** An email that is ready to be sent, and the data of its events. */
export interface ReadyEmail {
  message: OutgoingEmail;
  event: EmailEventData;
}

export interface EmailMessages {
  /**
   * Returns the total size of an email's files in bytes if the email is large (see `isLargeEmail`), otherwise 0. A
   * large email is composed in a thread, after its bytes were charged to the project's computing budget.
   */
  findLargeBytes(email: Pick<ClaimedEmail, 'projectId' | 'options'>): Promise<number>;
  /**
   * Renders and signs a claimed email. A large email is composed in a thread by `inThread`. Composing the same email
   * again gives the same message, except for its Date header.
   * @throws TemplateError, OverBudget
   */
  composeMessage(
    email: ClaimedEmail,
    to: { email: string; name: string | null },
    inThread?: RunPrepaidTask,
  ): Promise<ReadyEmail>;
}

export function createEmailMessages(deps: { config: Config; db: Db; compute: Compute }): EmailMessages {
  const { config, db, compute } = deps;
  const contents = createContentCache(deps);
  const dkim = createDkimSigners(deps);
  const verpKey = deriveKey(config.secretKey, 'verp');

  function createReturnPath(email: ClaimedEmail, content: Content): string {
    const host = config.email.returnPathDomain ?? email.senderDomain?.returnPathHost ?? emailDomain(content.from);
    return createVerpAddress(verpKey, email.id, host);
  }

  return {
    async findLargeBytes({ projectId, options }) {
      const ids = options.attachmentIds ?? [];
      const bytes = ids.length > 0 ? await sumAttachmentBytes(db, { projectId, ids }) : 0;
      return isLargeEmail(bytes) ? bytes : 0;
    },
    async composeMessage(email, to, inThread) {
      const { id, projectId } = email;
      const tracked = isTracked(email.project.tracking, email.contentType) && email.options.sealed === undefined;
      const work = { projectId, kind: 'email.message', maxWaitMs: WAIT_HERE_MS };
      const { content, ready } = await contents.get({ ...work, contentId: email.contentId, tracked });
      const rendering = buildRendering(email, to, config);
      const { subject, ...message } = await renderContent({
        tracked,
        email,
        to,
        content,
        ready,
        rendering,
        compute,
        work,
        db,
        dkim,
        inThread,
      });
      return {
        message: { id, projectId, from: createReturnPath(email, content), to: to.email, ...message },
        event: buildEventData(email, content, subject),
      };
    },
  };
}

function buildRendering(email: ClaimedEmail, to: { email: string }, config: Config) {
  const { contact } = email;
  return {
    vars: buildVariables({
      contact: { id: contact?.id ?? '', email: contact?.email ?? to.email, data: contact?.data },
      data: openVariables(email, config),
      zone: email.project.timezone,
    }),
    urls: { baseUrl: config.publicUrl, ...createLinkTokens(config.secretKey, email.id) },
  };
}

/**
 * Returns the variables of an email. Sealed variables, which only the recipient may read, are decrypted and included.
 */
function openVariables({ id, variables, options }: ClaimedEmail, { secretKey }: Config): ClaimedEmail['variables'] {
  if (options.sealed === undefined) return variables;
  const opened = unsealSecret(deriveKey(secretKey, 'at-rest'), sealedVariablesContext(id), options.sealed);
  return overrideValues(variables, markTrusted(JSON.parse(opened) as Data));
}

interface Rendering {
  /** Whether opens and clicks are tracked. */
  tracked: boolean;
  db: Db;
  dkim: DkimSigners;
  inThread: RunPrepaidTask | undefined;
  email: ClaimedEmail;
  to: { email: string; name: string | null };
  content: Content;
  ready: ReadyContent;
  rendering: ReturnType<typeof buildRendering>;
  compute: Compute;
  work: Work;
}

/** The signed message, ready for the provider, with its subject. */
type SignedMessage = Pick<OutgoingEmail, 'raw' | 'canonical' | 'payload'> & { subject: string };

async function renderContent(p: Rendering): Promise<SignedMessage> {
  const { email, content, ready, rendering, compute, work } = p;
  const headers = {
    from: { name: content.fromName, email: content.from },
    ...(await loadHeaderRecipients(p)),
    replyTo: getReplyTo(email, content),
    messageId: getMessageId({ ...email, from: content.from }),
    date: new Date(),
  };
  const extra = [...listAutomaticHeaders(email), ...Object.entries(email.options.headers ?? {})];
  const ids = email.options.attachmentIds ?? [];
  const ownText = email.options.text;
  const toRender = { content: ready, input: rendering };
  if (ids.length === 0 && ownText === undefined) {
    const { raw, subject } = await renderMessage(compute, work, { ...toRender, headers: { ...headers, extra } });
    return { raw: await p.dkim.sign(email, raw, true), canonical: true, subject };
  }
  const parts = await renderToStrings(compute, work, toRender);
  const { original } = email.options;
  if (original) {
    const html = p.tracked && original.html ? parts.html : undefined;
    const message = await signRelayedMessage(p, { html, messageId: headers.messageId, date: headers.date });
    return { ...message, subject: parts.subject };
  }
  const input = {
    ...headers,
    ...parts,
    ...(ownText !== undefined && { text: ownText }),
    from: asAddress(headers.from),
    to: asAddress(headers.to),
    cc: headers.cc?.map(asAddress),
    replyTo: headers.replyTo?.map(asAddress),
    headers: [...buildListUnsubscribeHeaders(ready, rendering.urls), ...extra],
  };
  const message = p.inThread ? await composeInThread(p, input, p.inThread) : await composeInProcess(p, input);
  return { ...message, subject: parts.subject };
}

/**
 * Returns the header that marks email of automations as automatic (RFC 3834), so that auto-responders do not reply.
 * Campaigns are not marked, because people write them. Applications that use the API set this header themselves.
 */
function listAutomaticHeaders({ sourceType }: ClaimedEmail): [name: string, value: string][] {
  return sourceType === 'WORKFLOW' ? [['Auto-Submitted', 'auto-generated']] : [];
}

function getReplyTo({ options }: ClaimedEmail, { replyTo }: Content): HeaderMailbox[] | null {
  return options.replyTo ?? (replyTo ? [{ email: replyTo }] : null);
}

async function loadHeaderRecipients({
  db,
  email,
  to,
}: Rendering): Promise<{ to: HeaderMailbox; cc?: HeaderMailbox[] }> {
  const { projectId, options } = email;
  if (!options.copies) return { to };
  const shown = await findShownRecipients(db, { projectId, copies: options.copies });
  return { to: shown.to ?? to, cc: shown.cc };
}

/** Completes and signs a message that an application composed itself and sent to the SMTP relay. */
async function signRelayedMessage(
  p: Rendering,
  rest: Omit<OriginalInput, 'message'>,
): Promise<Omit<SignedMessage, 'subject'>> {
  const { db, dkim, email, inThread: run } = p;
  const request = { projectId: email.projectId, ids: email.options.attachmentIds ?? [] };
  const [file] = run ? await readLargeAttachments(db, request) : await findAttachments(db, request);
  if (!file) throw new Error('the message of an email was dropped');
  const original = { message: file.content, ...rest };
  if (!run) return { raw: await dkim.sign(email, completeRelayedMessage(original), false), canonical: false };
  return composeAndSign(p, run, { original }, [file.content]);
}

type WithoutFiles = Omit<MessageParts, 'attachments'>;

async function composeInProcess(
  { db, dkim, email }: Rendering,
  input: WithoutFiles,
): Promise<Omit<SignedMessage, 'subject'>> {
  const ids = email.options.attachmentIds ?? [];
  const attachments = await findAttachments(db, { projectId: email.projectId, ids });
  const raw = await buildMessage({ ...input, attachments });
  return { raw: await dkim.sign(email, raw, false), canonical: false };
}

async function composeInThread(
  p: Rendering,
  input: WithoutFiles,
  run: RunPrepaidTask,
): Promise<Omit<SignedMessage, 'subject'>> {
  const { db, email } = p;
  const ids = email.options.attachmentIds ?? [];
  const attachments = await readLargeAttachments(db, { projectId: email.projectId, ids });
  const files = attachments.map(({ content }) => content);
  return composeAndSign(p, run, { message: { ...input, attachments } }, files);
}

/**
 * Composes and signs a message in a thread. The memory of the files is moved to the thread, so the caller cannot use
 * them afterwards.
 */
async function composeAndSign(
  { dkim, email }: Rendering,
  run: RunPrepaidTask,
  content: MessageContent,
  files: Buffer[],
): Promise<Omit<SignedMessage, 'subject'>> {
  const { rewrittenFields } = dkim;
  const signer = await dkim.findSigner(email);
  const { raw, payload } = await run('email.finish', { ...content, signer, rewrittenFields }, files);
  return { raw: asBuffer(raw), canonical: false, payload: { ...payload, data: asBuffer(payload.data) } };
}

function asAddress({ email, name }: HeaderMailbox): { name: string | null; address: string } {
  return { name: name ?? null, address: email };
}

function buildEventData(email: ClaimedEmail, content: Content, subject: string): EmailEventData {
  return {
    subject,
    from: content.from,
    fromName: content.fromName,
    messageId: getMessageId({ ...email, from: content.from }),
    emailId: email.id,
    templateId: content.templateId,
    campaignId: email.campaignId,
    sourceType: email.sourceType,
  };
}
