import { asBuffer } from '../../rules/as-buffer.ts';
import { type DkimSigner, signMessage } from './dkim.ts';
import { buildMessage, type MessageParts } from './mime.ts';
import { completeRelayedMessage, type OriginalInput } from './original.ts';
import { buildPayload, type Payload } from './smtp/payload.ts';

/**
 * The input for building an email in a thread: the parts of the email, or a message that an application has composed.
 * Between threads, Buffers become byte arrays.
 */
export type FinishedEmailInput = Signing & MessageContent;

/** The parts of a message, or a whole message that an application has composed. */
export type MessageContent = ComposedInput | { original: Omit<OriginalInput, 'message'> & { message: Uint8Array } };

interface ComposedInput {
  message: Omit<MessageParts, 'attachments'> & {
    attachments: readonly (Omit<NonNullable<MessageParts['attachments']>[number], 'content'> & {
      content: Uint8Array;
    })[];
  };
}

interface Signing {
  /** The DKIM signer. If undefined, the email is not signed. */
  signer: DkimSigner | undefined;
  rewrittenFields: readonly string[];
}

/** A complete message in two forms: for a provider that accepts it unchanged, and encoded for SMTP. */
export interface FinishedEmail {
  raw: Uint8Array;
  /** The message as SMTP sends it: the same bytes, unless a line starts with a dot. */
  payload: Omit<Payload, 'data'> & { data: Uint8Array };
}

/** Composes, signs and encodes an email. This is all the work whose cost grows with the size of the email. */
export async function buildFinishedEmail(input: FinishedEmailInput): Promise<FinishedEmail> {
  const { signer, rewrittenFields } = input;
  const message = 'original' in input ? completeOriginalInput(input.original) : await composeMessage(input);
  const raw = signer ? await signMessage(message, signer, { rewrittenFields }) : message;
  const { data, ...payload } = buildPayload(raw, false);
  return { raw, payload: { ...payload, data: typeof data === 'string' ? Buffer.from(data, 'latin1') : data } };
}

function completeOriginalInput({
  message,
  ...rest
}: Extract<MessageContent, { original: unknown }>['original']): Buffer {
  return completeRelayedMessage({ message: asBuffer(message), ...rest });
}

function composeMessage({ message }: ComposedInput): Promise<Buffer> {
  const attachments = message.attachments.map((file) => ({ ...file, content: asBuffer(file.content) }));
  return buildMessage({ ...message, attachments });
}
