import type fc from 'fast-check';
import { createAuthCheck, type Resolve } from '../../channels/inbound/auth-verdicts.ts';
import { readMessage } from '../../channels/inbound/read-message.ts';
import { readSubmission } from '../../channels/relay/read-submission.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { readCsvLayout } from '../../rules/contacts/csv-layout.ts';
import { countCsvRows, readCsvChunk } from '../../rules/contacts/csv-rows.ts';
import { interpolate, interpolateJson } from '../../rules/content/interpolate.ts';
import { parseTemplate, runWithTemplateLimit } from '../../rules/content/liquid.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import { classifyRefusal, parseDiagnostic } from '../../rules/emails/refusal.ts';
import { parseVerpAddress } from '../../rules/emails/verp.ts';
import { AppError } from '../../rules/errors.ts';
import { ConditionInput, StepConditionInput, WaitFiltersInput } from '../../rules/filters/filters.ts';
import { markTrusted } from '../../rules/provenance/provenance.ts';
import { address, condition, csv, type EmailWithDns, email, emailWithDns, liquid, report } from './untrusted.ts';

/** A parser of untrusted bytes: its input, and the errors that it may throw. */
export interface Parser {
  name: string;
  inputs: fc.Arbitrary<unknown>;
  run(input: never): unknown;
  /** Whether an error is an intended refusal. */
  refuses(error: unknown): boolean;
}

const refuseNone = () => false;
/** An expected error of the email parser: it has a message and is not a bug. */
const isReadableError = (error: unknown) =>
  error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
const key = deriveKey('the secret key of the tests', 'verp');
const at = new Date(0);

async function readInbound(text: string, isReturned: boolean): Promise<void> {
  const read = await readMessage(Buffer.from(text), { at, sender: '', isReturned });
  if (read.kind !== 'status') return;
  for (const recipient of ['ada@example.com', null]) read.of(recipient);
}

/**
 * Reads a file in chunks, as an import does. Expects at most one row for each line, and progress in each chunk. The
 * number of bytes that all chunks read together may be at most four times the size of the file.
 */
function readCsv(text: string): void {
  const file = Buffer.from(text);
  const layout = readCsvLayout(file);
  countCsvRows(file, layout);
  const lines = text.split('\n').length;
  let rows = 0;
  let bytesRead = 0;
  for (let from = layout.firstRowAt, done = false; !done; ) {
    const chunk = readCsvChunk(file, { layout, at: from, limit: 100, text: false });
    bytesRead += chunk.bytesRead;
    rows += chunk.rows.length;
    if (chunk.nextAt <= from && !chunk.done) throw new Error('the chunk makes no progress');
    if (rows > lines) throw new Error('more rows than lines');
    if (bytesRead > 4 * file.length) throw new Error(`${bytesRead} bytes read of a file of ${file.length} bytes`);
    from = chunk.nextAt;
    done = chunk.done;
  }
}

/**
 * Maximum number of DNS queries: SPF needs ten names with ten servers each in both address families; DKIM needs the
 * keys of twenty signatures; DMARC needs the policies of parent domains.
 */
const QUERIES_MAX = 250;

/**
 * Authenticates the sender of an inbound email, and throws if a verdict is missing or the check needed too many DNS
 * queries. For every query, the DNS responds with one of the sender's records, or that the name does not exist.
 */
async function checkVerdicts({ raw, records, ...claim }: EmailWithDns): Promise<void> {
  let queries = 0;
  const resolve: Resolve = async (name, type) => {
    queries += 1;
    const record = records[(name.length + queries) % (records.length + 1)];
    if (record === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return createDnsAnswer(type, record) as string[];
  };
  const verdicts = await createAuthCheck({ resolve, host: 'mx.example.com' })({ raw: Buffer.from(raw), ...claim });
  if (Object.values(verdicts).some((verdict) => !verdict)) throw new Error('a verdict is missing');
  if (queries > QUERIES_MAX) throw new Error(`${queries} DNS queries`);
}

function createDnsAnswer(type: string, record: string): unknown[] {
  if (type === 'TXT') return [[record], [record.slice(0, 255), record.slice(255)]];
  if (type === 'MX') return Array.from({ length: 30 }, (_, n) => ({ exchange: `mx${n}.a.example`, priority: n }));
  return type === 'AAAA' ? ['2001:db8::2', record] : ['192.0.2.7', record];
}

export const PARSERS: Parser[] = [
  { name: 'inbound emails', inputs: email, run: (text: string) => readInbound(text, false), refuses: isReadableError },
  { name: 'returned emails', inputs: email, run: (text: string) => readInbound(text, true), refuses: isReadableError },
  {
    name: 'reports (DSN, ARF)',
    inputs: report,
    run: (text: string) => readInbound(text, true),
    refuses: isReadableError,
  },
  { name: 'checks of senders (SPF, DKIM, DMARC)', inputs: emailWithDns, run: checkVerdicts, refuses: refuseNone },
  {
    name: 'messages to the SMTP relay',
    inputs: email,
    run: (text: string) => readSubmission(Buffer.from(text)),
    refuses: isReadableError,
  },
  {
    name: 'refusals of mail servers',
    inputs: address,
    run: (text: string) => classifyRefusal({ ...parseDiagnostic(`550 5.1.1 ${text}`), stage: 'dsn' }),
    refuses: refuseNone,
  },
  { name: 'return paths', inputs: address, run: (text: string) => parseVerpAddress(key, text), refuses: refuseNone },
  { name: 'CSV files', inputs: csv, run: readCsv, refuses: (error) => error instanceof AppError },
  {
    name: 'Liquid',
    inputs: liquid,
    run: (text: string) => runWithTemplateLimit(() => parseTemplate(text, 'html', 'body')),
    refuses: (error) => error instanceof TemplateError,
  },
  {
    name: 'variables of webhook steps',
    inputs: liquid,
    run: (text: string) => [
      interpolate(text, markTrusted({ a: { b: 1 } }), { untrusted: 'keep' }),
      interpolateJson([text, { text }], markTrusted({ a: 1 })),
    ],
    refuses: refuseNone,
  },
  {
    name: 'filters',
    inputs: condition,
    run: (input: unknown) =>
      [ConditionInput, StepConditionInput, WaitFiltersInput].map((schema) => schema.safeParse(input)),
    refuses: refuseNone,
  },
];
