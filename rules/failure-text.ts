/**
 * Text of an error for a log or for Temporal, which anyone with access can read. An error can quote an address, a
 * phone number or a text of a person: a provider's reply, a row that Postgres refuses, a file that does not parse.
 * Every error that is logged or fails an activity goes through `describeFailure`. The whole text stays in Postgres,
 * with the email, SMS, delivery or job that it is about.
 */

const MAX_CHARS = 300;

/** Text that looks like a key, a token, a password in a URL, an address or a phone number. */
// In this order: a URL's password and host would look like an address.
const SECRETS: readonly [RegExp, string][] = [
  [/\b(sk|pk|whsec)_[A-Za-z0-9_+/=-]{6,}/g, '$1_[redacted]'],
  [/:\/\/[^\s/@]+@/g, '://[redacted]@'],
  [/[^\s@"'<>(),;:=/[\]]+@[^\s@"'<>(),;:]+\.[^\s@"'<>(),;:]+/g, '[address]'],
  [/\+\d{8,15}\b/g, '[phone]'],
];

/**
 * Matches from the first quote to the last one of its kind, because the quoted text may contain quotes. An apostrophe
 * within a word is not a quote.
 */
const QUOTED: readonly [RegExp, string][] = [
  [/"[\s\S]*"/g, '"…"'],
  [/(?<![\p{L}\d])'[\s\S]*'/gu, "'…'"],
  [/`[\s\S]*`/g, '`…`'],
  [/“[\s\S]*”/g, '“…”'],
  [/<[\s\S]*>/g, '<…>'],
];

/** Classes of SQLSTATE whose messages quote values: data exceptions, constraints, and errors of our triggers. */
const QUOTES_VALUES = /^(22|23|44|P0)/;

/** Errors whose messages contain their input. Only their names are used. */
const QUOTES_INPUT = new Set(['ZodError', 'TemplateError', 'AppError']);

/** Removes addresses, phone numbers, keys and passwords from our own text. */
export function redact(text: string): string {
  return SECRETS.reduce((cleaned, [pattern, replacement]) => cleaned.replaceAll(pattern, replacement), text);
}

/** Describes an error in one line, without the values that it quotes. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return withoutQuotes(String(error));
  const own = describeOne(error);
  if (!(error.cause instanceof Error)) return own;
  const cause = describeFailure(error.cause);
  return own.includes(cause) ? own : `${own}: ${cause}`.slice(0, MAX_CHARS);
}

/** Returns the frames of an error's stack, without its message, which Node repeats at the top. */
export function stackFrames(error: Error): string {
  const { message, stack = '' } = error;
  const lines = stack.slice(stack.indexOf(message) + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).join('\n');
}

function describeOne(error: Error): string {
  const { name, message } = error;
  const code = textOf(error, 'code');
  // Our own activities create these messages, from codes, counts and instants.
  if (name === 'ApplicationFailure') return redact(message);
  if (textOf(error, 'severity') !== '') return describePostgres(error, code);
  if (QUOTES_INPUT.has(name)) return code === '' ? name : `${name} ${code}`;
  // An error of the network, TLS or Node: its message names the host, which a step may have built from a contact's
  // data.
  if (/^[A-Z][A-Z0-9_]{3,}$/.test(code))
    return [code, textOf(error, 'syscall')].filter((part) => part !== '').join(' ');
  const text = withoutQuotes(message);
  return name === 'Error' ? text : `${name}: ${text}`;
}

function describePostgres(error: Error, code: string): string {
  const where = ['table', 'column', 'constraint'].flatMap((field) => textOf(error, field) || []);
  const text = QUOTES_VALUES.test(code) ? '' : `: ${withoutQuotes(error.message)}`;
  return `Postgres ${code}${where.length > 0 ? ` (${where.join(', ')})` : ''}${text}`;
}

function withoutQuotes(text: string): string {
  const unquoted = QUOTED.reduce((cleaned, [pattern, replacement]) => cleaned.replaceAll(pattern, replacement), text);
  return redact(unquoted.split('\n')[0] ?? '').slice(0, MAX_CHARS);
}

function textOf(error: Error, field: string): string {
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : '';
}
