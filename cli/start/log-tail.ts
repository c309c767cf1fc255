import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const POLL_MS = 250;
const CHUNK_BYTES = 64 * 1024;
/** The number of the log level `warn` in pino. */
const WARN = 40;
const LEVELS: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' };
/** Matches a log line of Temporal that is not a warning. */
const UNIMPORTANT = /^\S+ \[(INFO|DEBUG|TRACE)\]/;
/** The maximum number of lines that the console shows after each poll of a log file. The log file has all lines. */
const LINES_PER_POLL = 5;

/**
 * Reads the log file of a child process from `offset` on, until `stop`, and passes its warnings and errors to
 * `writeLine`, one line each. The children write to their log files directly, and not through this process. If this
 * process is killed, they can therefore still log while they stop. The file stays open, as it does in the child. So
 * both use the same file if someone renames or deletes it, for example to rotate logs.
 */
export function followWarnings(path: string, offset: number, writeLine: (line: string) => void): { stop(): void } {
  const log = { descriptor: openSync(path, 'r'), position: offset, rest: '' };
  const readNewLines = (): void => {
    const lines = readNewLinesOf(log).flatMap((line) => parseWarning(line) ?? []);
    for (const line of lines.slice(0, LINES_PER_POLL)) writeLine(line);
    if (lines.length > LINES_PER_POLL) writeLine(`… and ${lines.length - LINES_PER_POLL} more in ${path}`);
  };
  const timer = setInterval(readNewLines, POLL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      readNewLines();
      closeSync(log.descriptor);
    },
  };
}

/** Reads the lines after `position`. If the file has become shorter, someone has emptied it, and reading restarts. */
function readNewLinesOf(log: { descriptor: number; position: number; rest: string }): string[] {
  if (fstatSync(log.descriptor).size < log.position) log.position = 0;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const bytes = readSync(log.descriptor, chunk, 0, CHUNK_BYTES, log.position);
  log.position += bytes;
  const lines = (log.rest + chunk.toString('utf8', 0, bytes)).split('\n');
  log.rest = lines.pop() ?? '';
  return lines;
}

/**
 * Returns the text of a warning in a log line. A line that is not JSON of pino comes from Node or a library, and counts
 * as a warning, except Temporal's lines below the level of a warning.
 */
function parseWarning(line: string): string | undefined {
  if (line.trim() === '') return undefined;
  const entry = parse(line);
  if (entry === undefined) return UNIMPORTANT.test(line) ? undefined : line;
  if (entry.level < WARN) return undefined;
  return `${LEVELS[entry.level] ?? entry.level}: ${entry.msg ?? line}${entry.reason ? ` (${entry.reason})` : ''}`;
}

function parse(line: string): { level: number; msg?: string; reason?: string } | undefined {
  try {
    const entry = JSON.parse(line);
    return typeof entry?.level === 'number' ? entry : undefined;
  } catch {
    return undefined;
  }
}
