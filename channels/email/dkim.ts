import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import {
  type HeaderField,
  parseHeaderFields,
  relaxedBodyPieces,
  splitMessage,
  splitMessageBytes,
  toRelaxedBody,
} from './dkim-canonical.ts';

/**
 * The header fields that are signed if the message has them: the list of RFC 6376 §5.4.1, and List-Unsubscribe and
 * List-Unsubscribe-Post, which RFC 8058 §4 requires.
 */
const SIGNED_FIELDS = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'reply-to',
  'list-unsubscribe',
  'list-unsubscribe-post',
];
/**
 * The list of field names and the signature are split into lines of this many characters in the DKIM-Signature header.
 */
const SIGNATURE_LINE = 72;

/**
 * The domain, selector and key for signatures. The caller creates one signer for each domain and keeps it, because
 * parsing a key from PEM text costs more than a signature.
 */
export interface DkimSigner {
  domain: string;
  selector: string;
  key: KeyObject;
}

/** @throws Error for text that is not a private key */
export function createDkimSigner(p: { domain: string; selector: string; privateKey: string }): DkimSigner {
  return { domain: p.domain, selector: p.selector, key: createPrivateKey(p.privateKey) };
}

export interface DkimOptions {
  /**
   * Whether the body is already in relaxed canonical form: no tab, no two spaces in a row, no space at the end of a
   * line, and one CRLF at the end. The signer does not check this.
   */
  canonicalBody?: boolean;
  /** Names of header fields that are not signed, because the email provider replaces them. */
  rewrittenFields?: readonly string[];
  now?: Date;
}

/**
 * Builds the DKIM-Signature header with its CRLF (RFC 6376, relaxed/relaxed, RSA-SHA256). The caller puts it before the
 * message. The message must have CRLF line ends and must be sent byte for byte. The RSA signature runs in Node's thread
 * pool, because it takes 0.25 ms and would block all connections during this time. The signature lists From one more
 * time than the message has it. An attacker who adds a second From then makes the signature invalid.
 */
function buildSignatureHeader(
  message: string | Buffer,
  signer: DkimSigner,
  options: DkimOptions,
  onSigned: (error: Error | null, header: string) => void,
): void {
  const { head, bodyHash } = typeof message === 'string' ? hashText(message, options) : hashBytes(message, options);
  const { names, text } = selectSignedHeaders(parseHeaderFields(head), options.rewrittenFields ?? []);
  const seconds = Math.floor((options.now?.getTime() ?? Date.now()) / 1000);
  const tags = [
    `v=1; a=rsa-sha256; c=relaxed/relaxed; d=${signer.domain};`,
    `s=${signer.selector}; t=${seconds};`,
    ...foldFieldNames(names),
    `bh=${bodyHash};`,
    'b=',
  ];
  const data = `${text}dkim-signature:${tags.join(' ')}`;
  sign('sha256', Buffer.from(data, 'latin1'), signer.key, (error, signature) => {
    if (error) onSigned(error, '');
    else onSigned(null, `DKIM-Signature: ${tags.join('\r\n ')}${foldSignature(signature.toString('base64'))}\r\n`);
  });
}

interface Hashed {
  head: string;
  bodyHash: string;
}

function hashText(message: string, { canonicalBody }: DkimOptions): Hashed {
  const { head, body } = splitMessage(message);
  const canonical = canonicalBody ? body : toRelaxedBody(body);
  return { head, bodyHash: createHash('sha256').update(canonical, 'latin1').digest('base64') };
}

function hashBytes(message: Buffer, { canonicalBody }: DkimOptions): Hashed {
  const { head, body } = splitMessageBytes(message);
  const hash = createHash('sha256');
  if (canonicalBody) hash.update(body);
  else for (const piece of relaxedBodyPieces(body)) hash.update(piece, 'latin1');
  return { head, bodyHash: hash.digest('base64') };
}

/**
 * Returns the message with its DKIM-Signature.
 * @throws Error when the key cannot sign
 */
export function signMessage<T extends string | Buffer>(
  message: T,
  signer: DkimSigner,
  options: DkimOptions = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    buildSignatureHeader(message, signer, options, (error, header) => {
      if (error) return reject(error);
      resolve((typeof message === 'string' ? header + message : Buffer.concat([Buffer.from(header), message])) as T);
    });
  });
}

/**
 * Returns the names and the canonical text of the header fields to sign. If a field occurs more than once, its last
 * occurrence is signed first (RFC 6376 §5.4.2).
 */
function selectSignedHeaders(fields: HeaderField[], rewritten: readonly string[]): { names: string[]; text: string } {
  const names: string[] = ['from'];
  let text = '';
  for (const name of SIGNED_FIELDS) {
    if (rewritten.includes(name)) continue;
    const present = fields.filter((field) => field.name === name).reverse();
    for (const { value } of present) {
      names.push(name);
      text += `${name}:${value}\r\n`;
    }
  }
  return { names, text };
}

/**
 * Splits the tag `h=`, the list of field names, into lines. A verifier reads each line break as a single space, which
 * matches the signed text.
 */
function foldFieldNames(names: string[]): string[] {
  const lines: string[] = [];
  let line = 'h=';
  names.forEach((name, i) => {
    const piece = i === names.length - 1 ? `${name};` : `${name}:`;
    if (line.length + piece.length > SIGNATURE_LINE) {
      lines.push(line);
      line = '';
    }
    line += piece;
  });
  return [...lines, line];
}

/** Splits the signature into lines. The signature itself is not signed, so a line may end anywhere. */
function foldSignature(base64: string): string {
  let lines = base64.slice(0, SIGNATURE_LINE);
  for (let at = SIGNATURE_LINE; at < base64.length; at += SIGNATURE_LINE) {
    lines += `\r\n ${base64.slice(at, at + SIGNATURE_LINE)}`;
  }
  return lines;
}
