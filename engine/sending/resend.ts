import type { Db } from '../../db/connection.ts';
import { findAttachments, listAttachmentInfos, readLargeAttachments } from '../../db/contents/attachments.ts';
import { findContents } from '../../db/contents/contents.ts';
import { findShownRecipients, getEmail } from '../../db/emails/emails.ts';
import type { SendRequest } from '../../rules/emails/send-request.ts';
import { AppError } from '../../rules/errors.ts';

/**
 * The content of an earlier email as a request to send it. Omits the fields that depend on the new request's caller.
 */
export type ResendDraft = Omit<SendRequest, 'monthlyEmailLimit' | 'idempotencyKey' | 'owner' | 'request'>;

/** Emails with these statuses may still be sent, so a resend could send them twice. */
const UNFINISHED: readonly string[] = ['PENDING', 'SENDING', 'HELD'];
/** The size in bytes from which files are read in slices, so that they do not block the event loop. */
const LARGE_BYTES = 1024 * 1024;

/**
 * Turns an email into a request to send it again, to the same address with the same text and variables. If the original
 * is a test email, the new email is a test email too.
 * @throws AppError NOT_FOUND; CONFLICT for an email that is being sent, was received, belongs to a sandbox or is an
 * invitation, or whose recipient or files were deleted
 */
export async function toResendDraft(
  db: Db,
  p: { projectId: string; id: string; mode: SendRequest['mode'] },
): Promise<ResendDraft> {
  const { projectId } = p;
  const email = await getEmail(db, p);
  const { to, options, status } = email;
  if (email.sourceType === 'INBOUND')
    throw createRefusal('This email was received, not sent.', status, 'Reply to it with POST /v1/send.');
  if (UNFINISHED.includes(status)) {
    throw createRefusal(
      `This email is still in progress: it is ${status}.`,
      status,
      'Repeat the request when the email has ended.',
    );
  }
  if (to === null) {
    throw createRefusal(
      'The contact of this email was erased with its address.',
      status,
      'Send a new email with POST /v1/send.',
    );
  }
  if (options?.copies && (await findShownRecipients(db, { projectId, copies: options.copies })).to === undefined) {
    throw createRefusal(
      'This email is a copy of an email to an erased contact.',
      status,
      'Send a new email with POST /v1/send.',
    );
  }
  if (options?.sandbox) {
    throw createRefusal(
      'This email belongs to a sandbox execution.',
      status,
      'Start the sandbox again, or send with POST /v1/send.',
    );
  }
  if (options?.sealed) {
    throw createRefusal(
      'This email has a link that only its recipient may use.',
      status,
      'Invite the person again with POST /team/invitations.',
    );
  }
  const content = (await findContents(db, { projectId, ids: [email.contentId] })).get(email.contentId);
  if (!content) throw new Error('an email is without its content');
  const attachments = await readFiles(db, { projectId, ids: options?.attachmentIds ?? [] }, status);
  const { id: _, projectId: __, topicId = null, ...fields } = content;
  return {
    projectId,
    mode: email.mode === 'test' ? 'test' : p.mode,
    to: [{ email: to, name: email.toName }],
    subject: undefined,
    body: undefined,
    templateId: undefined,
    from: undefined,
    replyTo: undefined,
    ...(options?.text !== undefined && { text: options.text }),
    subscribed: undefined,
    data: { set: {}, remove: [], oneOff: email.variables },
    headers: options?.headers ?? {},
    attachments,
    ...(options?.original && { original: options.original }),
    again: {
      content: { ...fields, topicId },
      origin: {
        resentFrom: email.id,
        ...(options?.forStranger && { forStranger: true }),
        ...(options?.copies && { copies: options.copies }),
        ...(options?.replyTo && { replyTo: options.replyTo }),
      },
    },
  };
}

/**
 * Reads the files of an email.
 * @throws AppError CONFLICT when the files were deleted after `ATTACHMENT_RETENTION_DAYS`
 */
async function readFiles(db: Db, p: { projectId: string; ids: string[] }, status: string) {
  const infos = await listAttachmentInfos(db, p);
  const bytes = infos.reduce((sum, { size }) => sum + size, 0);
  const files = bytes > LARGE_BYTES ? await readLargeAttachments(db, p) : await findAttachments(db, p);
  const hasLostFiles =
    infos.length < p.ids.length || files.some(({ content }, n) => content.byteLength !== infos[n]?.size);
  if (hasLostFiles) {
    throw createRefusal(
      'The attachments of this email were deleted.',
      status,
      'Send a new email with its attachments with POST /v1/send.',
    );
  }
  return files.map(({ id: _, ...file }) => file);
}

function createRefusal(message: string, status: string, suggestion: string): AppError {
  return new AppError('CONFLICT', { message, details: { status }, suggestion });
}
