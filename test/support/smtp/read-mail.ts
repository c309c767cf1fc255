import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, 'read-mail.py');

/** A part of a message that contains no further parts. */
export interface ReadPart {
  type: string;
  disposition: string | null;
  filename: string | null;
  /** The Content-ID with its angle brackets. */
  contentId: string | null;
  content: Buffer;
  /** The decoded text, with lines that end in LF; null for files. */
  text: string | null;
}

/** A message as Python's `email` package understands it. */
export interface ParsedMessage {
  /** Defects that the parser tolerated in the message, its parts and their headers. */
  defects: string[];
  /** Headers in order, with names in lower case and decoded values. */
  headers: [name: string, value: string][];
  from: { name: string; address: string }[];
  to: { name: string; address: string }[];
  replyTo: { name: string; address: string }[];
  /** Content types of all parts, including multiparts. */
  types: string[];
  /** Length of the longest line, in octets, without CRLF. */
  longestLine: number;
  parts: ReadPart[];
}

/**
 * Reads messages, given as strings of bytes, with Python's `email` package.
 * @throws Error if there is no python3, or if it fails
 */
export async function parseMessages(raws: string[]): Promise<ParsedMessage[]> {
  const python = spawn('python3', [SCRIPT]);
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  python.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  python.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  python.stdin.on('error', () => {}); // Python ended before it had read everything. Its output has the reason.
  python.stdin.end(JSON.stringify(raws.map((raw) => Buffer.from(raw, 'latin1').toString('base64'))));
  const [code] = await once(python, 'close').catch((cause) => {
    throw new Error('these tests need python3 on PATH: its email package reads the mail', { cause });
  });
  if (code !== 0) throw new Error(`python3 failed: ${Buffer.concat(errors)}`);
  return JSON.parse(Buffer.concat(output).toString()).map(parseMessage);
}

interface FoundPart extends Omit<ReadPart, 'content'> {
  base64: string;
}

function parseMessage(found: Omit<ParsedMessage, 'parts'> & { parts: FoundPart[] }): ParsedMessage {
  const parts = found.parts.map(({ base64, text, ...part }) => ({
    ...part,
    content: Buffer.from(base64, 'base64'),
    text: text?.replaceAll('\r\n', '\n') ?? null,
  }));
  return { ...found, parts };
}
