/**
 * Describes errors for the log and for Temporal, which anyone with access can read. The text of an error may quote an
 * address, a phone number or the text of a person: a provider's reply, a row that Postgres refuses, a file that cannot
 * be parsed. Use `describeFailure` for errors that are logged or that fail an activity. The whole text is only in
 * Postgres, with the email, SMS, delivery or job of the error.
 */

const MAX_CHARS = 300;

/** Patterns of keys, tokens, passwords in URLs, addresses and phone numbers, with their replacements. */
// The order matters: the password and host of a URL would also match the pattern of an address.
const SECRETS: readonly [RegExp, string][] = [
  [/\b(sk|pk|whsec)_[A-Za-z0-9_+/=-]{6,}/g, '$1_[redacted]'],
  [/:\/\/[^\s/@]+@/g, '://[redacted]@'],
  [/[^\s@"'<>(),;:=/[\]]+@[^\s@"'<>(),;:]+\.[^\s@"'<>(),;:]+/g, '[address]'],
  [/\+\d{8,15}\b/g, '[phone]'],
];

/**
 * Patterns of quoted text, with their replacements. Each matches from the first quote to the last quote of the same
 * kind, because the quoted text may contain quotes. An apostrophe inside a word is not a quote.
 */
const QUOTED: readonly [RegExp, string][] = [
  [/"[\s\S]*"/g, '"…"'],
  [/(?<![\p{L}\d])'[\s\S]*'/gu, "'…'"],
  [/`[\s\S]*`/g, '`…`'],
  [/“[\s\S]*”/g, '“…”'],
  [/<[\s\S]*>/g, '<…>'],
];

/**
 * Matches SQLSTATE classes whose messages quote values: data exceptions, constraint violations, and errors of this
 * service's triggers.
 */
const QUOTES_VALUES = /^(22|23|44|P0)/;

/** The names of errors whose messages contain their input. Only the name and the code of such an error are used. */
const QUOTES_INPUT = new Set(['ZodError', 'TemplateError', 'AppError']);

/** Replaces addresses, phone numbers, keys and passwords in a text. */
export function redact(text: string): string {
  return SECRETS.reduce((cleaned, [pattern, replacement]) => cleaned.replaceAll(pattern, replacement), text);
}

/** Describes an error and its causes in one line, without the values that the messages quote. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return maskQuotedText(String(error));
  const description = describeOne(error);
  if (!(error.cause instanceof Error)) return description;
  const cause = describeFailure(error.cause);
  return description.includes(cause) ? description : `${description}: ${cause}`.slice(0, MAX_CHARS);
}

/** Returns the frames of an error's stack, without the message that Node writes at the top. */
export function readStackFrames(error: Error): string {
  const { message, stack = '' } = error;
  const lines = stack.slice(stack.indexOf(message) + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).join('\n');
}

function describeOne(error: Error): string {
  const { name, message } = error;
  const code = readTextField(error, 'code');
  // The activities of this service create these messages from codes, counts and instants, so they quote nothing.
  if (name === 'ApplicationFailure') return redact(message);
  if (readTextField(error, 'severity') !== '') return describePostgres(error, code);
  if (QUOTES_INPUT.has(name)) return code === '' ? name : `${name} ${code}`;
  // This is an error of the network, TLS or Node. The message of such an error may contain a host that a step built
  // from a contact's data.
  if (/^[A-Z][A-Z0-9_]{3,}$/.test(code))
    return [code, readTextField(error, 'syscall')].filter((part) => part !== '').join(' ');
  const text = maskQuotedText(message);
  return name === 'Error' ? text : `${name}: ${text}`;
}

function describePostgres(error: Error, code: string): string {
  const location = ['table', 'column', 'constraint'].flatMap((field) => readTextField(error, field) || []);
  const text = QUOTES_VALUES.test(code) ? '' : `: ${maskQuotedText(error.message)}`;
  return `Postgres ${code}${location.length > 0 ? ` (${location.join(', ')})` : ''}${text}`;
}

function maskQuotedText(text: string): string {
  const unquoted = QUOTED.reduce((cleaned, [pattern, replacement]) => cleaned.replaceAll(pattern, replacement), text);
  return redact(unquoted.split('\n')[0] ?? '').slice(0, MAX_CHARS);
}

function readTextField(error: Error, field: string): string {
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : '';
}
