import { readFile } from 'node:fs/promises';
import type { RelayHandler, RelayListener, RelayMessage, RelayRefusal } from '../../channels/relay/listener.ts';
import type { Submission } from '../../channels/relay/read-submission.ts';
import type { KeyAccess } from '../../db/projects/access.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { asBuffer } from '../../rules/as-buffer.ts';
import type { Config } from '../../rules/config.ts';
import { TEMPLATE_MAX_CHARS } from '../../rules/content/liquid.ts';
import { toVerbatimTemplate } from '../../rules/content/liquid-verbatim.ts';
import { isEmailAddress, normalizeEmail, parseMailbox } from '../../rules/emails/email-address.ts';
import type { SendAttachment, SendRequest, SendResponse } from '../../rules/emails/send-request.ts';
import { isReservedMailHeader } from '../../rules/emails/service-headers.ts';
import { AppError, type ErrorCode } from '../../rules/errors.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { OriginalMessage } from '../../rules/mime/prepare-original.ts';
import { markTrusted } from '../../rules/provenance/provenance.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { createSendAcceptor } from '../accept/send-acceptor.ts';
import type { Deps } from '../http/deps.ts';
import { HEADER_LINE_MAX_CHARS } from '../http/schemas.ts';
import { checkAttachments } from '../routes/send/input.ts';

const SCOPE = 'email:send';
/**
 * Smaller messages are prepared on the main thread, because passing a small message to another thread takes longer than
 * preparing it. Preparing a message of 40 MB takes 100 ms.
 */
const THREAD_MIN_BYTES = 256 * 1024;

/**
 * SMTP replies to refused sign-ins and messages, with enhanced codes (RFC 3463). For any other error, the listener
 * replies 451, so the client sends the message again later.
 */
const REPLIES: Partial<Record<ErrorCode, [code: number, enhanced: string]>> = {
  INVALID_API_KEY: [535, '5.7.8'],
  FORBIDDEN: [535, '5.7.1'],
  PROJECT_DISABLED: [535, '5.7.1'],
  DOMAIN_NOT_VERIFIED: [550, '5.7.1'],
  BILLING_LIMIT_EXCEEDED: [452, '4.7.1'],
  RATE_LIMIT_EXCEEDED: [450, '4.7.1'],
  PAYLOAD_TOO_LARGE: [552, '5.3.4'],
  VALIDATION_ERROR: [554, '5.6.0'],
  BAD_REQUEST: [554, '5.6.0'],
};

/**
 * Starts the SMTP relay on SMTP_RELAY_PORT. If the port is not set, returns undefined and does not load the server and
 * the parser.
 */
export async function startSmtpRelay(deps: Deps): Promise<RelayListener | undefined> {
  const { config, log } = deps;
  if (config.smtpRelay.port === undefined) return undefined;
  const { startRelayListener } = await import('../../channels/relay/listener.ts');
  const relay = await startRelayListener({
    host: config.host,
    port: config.smtpRelay.port,
    name: new URL(config.publicUrl).hostname,
    tls: await readTlsFiles(config),
    allowPlain: config.smtpRelay.allowPlain,
    handler: await createRelayHandler(deps),
    onError: (error) => log.warn({ reason: describeFailure(error) }, 'SMTP relay'),
  });
  log.info({ port: relay.port }, 'the SMTP relay accepts email');
  return relay;
}

/**
 * Creates the handler of the SMTP relay. An SMTP message is a send request: the same keys, limits and checks apply as
 * for `POST /v1/send`. The relay replies 250 after the commit. Text in the message that looks like a template
 * expression is sent unchanged. Source: contract §2.1, §9.13.
 */
export async function createRelayHandler(deps: Deps): Promise<RelayHandler> {
  const { RelayRefusal } = await import('../../channels/relay/listener.ts');
  const { readSubmission } = await import('../../channels/relay/read-submission.ts');
  const { prepareOriginal } = await import('../../rules/mime/prepare-original.ts');
  const { compute, config, db, keys, outbox, limits } = deps;
  const host = new URL(config.publicUrl).hostname;
  const acceptor = createSendAcceptor({
    db,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
    outbox,
  });

  /**
   * Returns the access of a key that may send. Called for each message, because the key may have been revoked since the
   * sign-in.
   * @throws AppError INVALID_API_KEY, FORBIDDEN, PROJECT_DISABLED
   */
  async function findAccess(key: string): Promise<KeyAccess> {
    const access = await keys.find(key);
    if (access?.kind !== 'secret') throw new AppError('INVALID_API_KEY');
    if (!access.scopes.has(SCOPE))
      throw new AppError('FORBIDDEN', { message: `This API key lacks the scope ${SCOPE}` });
    if (access.project.disabled) throw new AppError('PROJECT_DISABLED');
    return access;
  }

  async function accept(message: RelayMessage): Promise<SendResponse> {
    const access = await findAccess(message.key);
    await limits.takeForProject(access.project.id);
    const submission = await readSubmission(message.raw).catch((cause: Error) => {
      throw new AppError('BAD_REQUEST', { message: `The message cannot be read: ${cause.message}`, cause });
    });
    checkAttachments(submission.attachments, config.attachmentsMaxBytes);
    const original = await toOriginalMessage(message, access.project.id);
    return acceptor.accept(toSendRequest(submission, original, message, access));
  }

  /**
   * Prepares the message for sending; a large message in a thread.
   * @throws AppError BAD_REQUEST, OverBudget
   */
  async function toOriginalMessage({ raw, from }: RelayMessage, projectId: string): Promise<OriginalMessage> {
    const p = { host, id: uuidv7(), from: normalizeEmail(from), now: new Date() };
    if (raw.length < THREAD_MIN_BYTES) return prepareOriginal(raw, p);
    const work = { projectId, kind: 'relay.message' };
    const prepared = await compute.runLargeRequest(work, raw.length, (inThread) =>
      inThread('email.original', { raw, p }),
    );
    return { ...prepared, message: asBuffer(prepared.message) };
  }

  const refusal = (error: unknown): unknown => toRefusal(error, RelayRefusal);
  return {
    signIn: async (key) => void (await findAccess(key).catch((error) => Promise.reject(refusal(error)))),
    checkRecipient(address) {
      const parsed = parseMailbox(address);
      if (!parsed.ok) throw new RelayRefusal(553, `5.1.3 ${parsed.reason.replace(/[^\x20-\x7e]+/g, '...')}`);
    },
    take: async (message) => formatReply(await accept(message).catch((error) => Promise.reject(refusal(error)))),
  };
}

/**
 * Creates the send request for a message.
 * @throws AppError VALIDATION_ERROR, PAYLOAD_TOO_LARGE
 */
function toSendRequest(
  submission: Submission,
  original: OriginalMessage,
  message: RelayMessage,
  { keyId, scopes, mode, project }: KeyAccess,
): SendRequest {
  const { subject, text, names, replyTo } = submission;
  const headers = Object.fromEntries(
    Object.entries(submission.headers).filter(([name]) => !isReservedMailHeader(name)),
  );
  const from = submission.from ?? { email: normalizeEmail(message.from), name: null };
  if (!isEmailAddress(from.email)) throw new AppError('VALIDATION_ERROR', { message: 'The message has no sender' });
  // Tracking replaces the part `original.html` of the message by HTML that is built from `body`. Therefore `body` must
  // be the text of this part if the message has such a part.
  const body = toVerbatimTemplate(original.html ?? submission.html);
  checkTextSizes(submission, body);
  const to = [...new Set(message.recipients.map(normalizeEmail))].map((email) => ({
    email,
    name: names.get(email) ?? null,
  }));
  return {
    projectId: project.id,
    mode,
    monthlyEmailLimit: project.monthlyEmailLimit,
    idempotencyKey: undefined,
    request: 'SMTP',
    owner: { name: `key:${keyId}`, public: false, scopes },
    to,
    from,
    subject: toVerbatimTemplate(subject),
    body,
    headers,
    attachments: [toMessageAttachment(original.message)],
    original: {
      messageId: original.messageId,
      html: original.html !== undefined,
      files: submission.attachments.map(({ filename, contentType, content }) => ({
        filename,
        contentType,
        size: content.byteLength,
      })),
    },
    ...(text !== null && { text }),
    templateId: undefined,
    replyTo: replyTo !== null && isEmailAddress(replyTo) ? [{ email: replyTo }] : undefined,
    subscribed: undefined,
    data: { set: {}, remove: [], oneOff: markTrusted({}) },
  };
}

function toMessageAttachment(content: Buffer): SendAttachment {
  return {
    filename: 'message.eml',
    contentType: 'message/rfc822',
    disposition: 'attachment',
    contentId: null,
    content,
  };
}

function checkTextSizes({ subject }: Submission, body: string): void {
  if (subject.length > HEADER_LINE_MAX_CHARS)
    throw new AppError('VALIDATION_ERROR', {
      message: `The subject has more than ${HEADER_LINE_MAX_CHARS} characters`,
    });
  if (body.length > TEMPLATE_MAX_CHARS)
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `The body has more than ${TEMPLATE_MAX_CHARS} characters` });
}

/** Converts an AppError to the error that makes the listener reply with the code in `REPLIES`. */
function toRefusal(error: unknown, Refusal: typeof RelayRefusal): unknown {
  const reply = error instanceof AppError ? REPLIES[error.code] : undefined;
  if (!(error instanceof AppError) || !reply) return error;
  const [code, enhanced] = reply;
  return new Refusal(code, `${enhanced} ${error.message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 400)}`);
}

/**
 * Returns the text of the SMTP reply. It has the id of the first email, so that users can find the email from the log
 * of their SMTP client. If the message has several recipients, the text also has the number of the other emails.
 */
function formatReply({ data }: SendResponse): string {
  const [first, ...others] = data.emails.map(({ email }) => email);
  return `2.0.0 Accepted as ${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;
}

async function readTlsFiles({ tls }: Config): Promise<{ cert: string; key: string } | undefined> {
  if (!tls.certFile || !tls.keyFile) return undefined;
  return { cert: await readFile(tls.certFile, 'utf8'), key: await readFile(tls.keyFile, 'utf8') };
}
