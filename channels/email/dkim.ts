import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import {
  type HeaderField,
  headerFields,
  relaxedBody,
  relaxedPieces,
  splitMessage,
  splitMessageBytes,
} from './dkim-canonical.ts';

/**
 * Fields that are signed when present: the list of RFC 6376 §5.4.1, and List-Unsubscribe(-Post), which RFC 8058 §4
 * requires.
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
const SIGNATURE_LINE = 72;

/** A signer. It is created once per domain, because reading a key from PEM costs more than a signature. */
export interface DkimSigner {
  domain: string;
  selector: string;
  key: KeyObject;
}

/** @throws Error for text that is not a private key */
export function dkimSigner(p: { domain: string; selector: string; privateKey: string }): DkimSigner {
  return { domain: p.domain, selector: p.selector, key: createPrivateKey(p.privateKey) };
}

export interface DkimOptions {
  /**
   * The body is already in relaxed canonical form: no two spaces in a row, none at a line's end, one CRLF at the end.
   * It is not checked.
   */
  canonicalBody?: boolean;
  /** Fields that are not signed, because the provider replaces them. */
  rewrittenFields?: readonly string[];
  now?: Date;
}

/**
 * Builds the DKIM-Signature header, with its CRLF, to put before the message (RFC 6376, relaxed/relaxed, RSA-SHA256).
 * The message has CRLF line ends and is sent byte for byte. The signing runs in Node's thread pool, because its 0.25 ms
 * would block all other connections. From is listed one more time than it occurs, so that no one can add a second From.
 */
function dkimSignature(
  message: string | Buffer,
  signer: DkimSigner,
  options: DkimOptions,
  onSigned: (error: Error | null, header: string) => void,
): void {
  const { head, bodyHash } = typeof message === 'string' ? hashOfText(message, options) : hashOfBytes(message, options);
  const { names, text } = signedHeaders(headerFields(head), options.rewrittenFields ?? []);
  const seconds = Math.floor((options.now?.getTime() ?? Date.now()) / 1000);
  const tags = [
    `v=1; a=rsa-sha256; c=relaxed/relaxed; d=${signer.domain};`,
    `s=${signer.selector}; t=${seconds};`,
    ...foldNames(names),
    `bh=${bodyHash};`,
    'b=',
  ];
  const data = `${text}dkim-signature:${tags.join(' ')}`;
  sign('sha256', Buffer.from(data, 'latin1'), signer.key, (error, signature) => {
    if (error) onSigned(error, '');
    else onSigned(null, `DKIM-Signature: ${tags.join('\r\n ')}${fold(signature.toString('base64'))}\r\n`);
  });
}

interface Hashed {
  head: string;
  bodyHash: string;
}

function hashOfText(message: string, { canonicalBody }: DkimOptions): Hashed {
  const { head, body } = splitMessage(message);
  const canonical = canonicalBody ? body : relaxedBody(body);
  return { head, bodyHash: createHash('sha256').update(canonical, 'latin1').digest('base64') };
}

function hashOfBytes(message: Buffer, { canonicalBody }: DkimOptions): Hashed {
  const { head, body } = splitMessageBytes(message);
  const hash = createHash('sha256');
  if (canonicalBody) hash.update(body);
  else for (const piece of relaxedPieces(body)) hash.update(piece, 'latin1');
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
    dkimSignature(message, signer, options, (error, header) => {
      if (error) return reject(error);
      resolve((typeof message === 'string' ? header + message : Buffer.concat([Buffer.from(header), message])) as T);
    });
  });
}

/**
 * Returns the signed fields. If a field occurs more than once, its last occurrence is signed first (RFC 6376 §5.4.2).
 */
function signedHeaders(fields: HeaderField[], rewritten: readonly string[]): { names: string[]; text: string } {
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

/** Folds `h=` into lines. A verifier reads each fold as a single space, as in the signed text. */
function foldNames(names: string[]): string[] {
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

/** The signature's own text is not signed, so it may be folded anywhere. */
function fold(base64: string): string {
  let lines = base64.slice(0, SIGNATURE_LINE);
  for (let at = SIGNATURE_LINE; at < base64.length; at += SIGNATURE_LINE) {
    lines += `\r\n ${base64.slice(at, at + SIGNATURE_LINE)}`;
  }
  return lines;
}
