import { encodeQuotedPrintable, isSafeValue, QuotedPrintableWriter } from '../mime/quoted-printable.ts';
import {
  type Hole,
  type NodesHole,
  type Part,
  renderHole,
  renderValue,
  type ValueHole,
  type Values,
} from './content-pieces.ts';
import { LINK_TOKEN_CHARS } from './link-tokens.ts';
import { OUTPUT_MAX_CHARS } from './liquid-engine.ts';
import { escapeHtml } from './plain-value.ts';
import { TemplateError } from './template-error.ts';

/** `=_` cannot occur in quoted-printable, so no content can contain the boundary (RFC 2045 §6.7). */
const BOUNDARY = '=_tidings_alternative';

/**
 * The encoded body of a message, as a list of pieces: constant text that is already encoded, tokens of links, and
 * holes for values. Tokens and holes are filled for each message. Each hole is on its own line.
 */
export interface WireBody {
  baseUrl: string;
  pieces: WirePiece[];
}

type WirePiece = string | WireToken | WireHole;

interface WireToken {
  kind: 'token';
  token: 'track' | 'manage';
}

interface WireHole {
  kind: 'hole';
  hole: ValueHole | NodesHole;
  escaping: Part['escaping'];
}

/**
 * Encodes the constant text of both parts, including their MIME headers. `baseUrl` is the address of the service, for
 * its links.
 */
export function compileWireBody(text: Part | undefined, html: Part, baseUrl: string): WireBody {
  const pieces: WirePiece[] = [];
  const add = (piece: WirePiece) => {
    const last = pieces.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else pieces.push(piece);
  };
  add(`MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="${BOUNDARY}"\r\n`);
  if (text) {
    add(writePartHead('text/plain'));
    addPart(text, baseUrl, add);
  }
  add(writePartHead('text/html'));
  addPart(html, baseUrl, add);
  add(`\r\n--${BOUNDARY}--\r\n`);
  return { baseUrl, pieces: pieces.map((piece) => (typeof piece === 'string' ? flattenString(piece) : piece)) };
}

/**
 * Copies a text into one piece of memory. V8 stores concatenated text as a tree, and would walk the whole tree for each
 * message: 50 µs, while the rest of the message takes 12 µs.
 */
function flattenString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Fills the holes for one message. @throws TemplateError */
export function fillWireBody({ pieces }: WireBody, values: Values): string {
  let out = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') out += piece;
    else if (piece.kind === 'token') out += values.urls[piece.token];
    else out += encodeHole(piece, values);
    if (out.length > 3 * OUTPUT_MAX_CHARS) throw new TemplateError('The template renders to more than is allowed.');
  }
  return out;
}

function writePartHead(type: string): string {
  return `\r\n--${BOUNDARY}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`;
}

function addPart({ pieces, escaping }: Part, baseUrl: string, add: (piece: WirePiece) => void): void {
  const writer = new QuotedPrintableWriter();
  for (const piece of pieces) {
    if (typeof piece === 'string') writer.writeText(piece);
    else addHole(piece, { escaping, baseUrl, writer, add });
  }
  add(writer.take());
}

interface PieceContext {
  escaping: Part['escaping'];
  baseUrl: string;
  writer: QuotedPrintableWriter;
  add: (piece: WirePiece) => void;
}

/**
 * Adds a hole to the pieces. The token of a link has a known length and stays in its line. A value is placed between
 * soft line breaks, so the text after the value starts a new line.
 */
function addHole(hole: Hole, { escaping, baseUrl, writer, add }: PieceContext): void {
  if (hole.kind === 'url') {
    const before = baseUrl + hole.before;
    add(
      writer
        .writeText(escaping === 'html' ? escapeHtml(before) : before)
        .reserve(LINK_TOKEN_CHARS)
        .take(),
    );
    add({ kind: 'token', token: hole.token });
    writer.writeText(hole.after);
    return;
  }
  add(writer.addSoftBreak().take());
  add({ kind: 'hole', hole, escaping });
  add(`=\r\n`);
}

function encodeHole({ hole, escaping }: WireHole, values: Values): string {
  if (hole.kind === 'nodes') return encodeQuotedPrintable(renderHole(hole, escaping, values));
  const text = renderValue(hole, values);
  if (isSafeValue(text)) return text;
  return encodeQuotedPrintable(escaping === 'html' ? escapeHtml(text) : text);
}
