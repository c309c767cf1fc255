import pino, { type DestinationStream, destination, type Logger } from 'pino';
import { describeFailure } from '../rules/failure-text.ts';

/**
 * The names of log fields with a secret or an address. The log redacts these fields at the top level and one level
 * below.
 */
const PRIVATE_FIELDS = [
  ...['email', 'to', 'from', 'phone', 'address', 'recipient', 'body', 'html', 'text', 'subject'],
  ...['password', 'secret', 'key', 'token', 'authorization', 'cookie', 'secretKey', 'connectionString', 'url'],
];

/**
 * Describes an error without the values that its message quotes. Callers should log the text of `describeFailure` and
 * not an error. If a caller logs an error anyway, this function hides these values.
 */
const describe = (value: unknown) => (value === null ? null : describeFailure(value));
const FAILURES = { reason: describe, err: describe, error: describe };

/** Creates the log of a process: JSON lines on standard output, with secrets and addresses redacted. */
export function createLogger(name: string, level: string, output: DestinationStream = destination(1)): Logger {
  const options = {
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: FAILURES,
    redact: { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' },
  };
  return pino(options, output);
}
