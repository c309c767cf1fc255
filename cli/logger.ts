import pino, { type Logger } from 'pino';

/** Names of fields that hold a secret or an address: they are blanked wherever they stand in the first two levels. */
const PRIVATE_FIELDS = [
  ...['email', 'to', 'from', 'phone', 'address', 'recipient', 'body', 'html', 'text', 'subject'],
  ...['password', 'secret', 'key', 'token', 'authorization', 'cookie', 'secretKey', 'connectionString', 'url'],
];

/** The log of a process: JSON lines on standard output, with secrets and addresses blanked. */
export function createLogger(name: string, level: string): Logger {
  return pino({
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: PRIVATE_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[private]' },
  });
}
