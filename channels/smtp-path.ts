/** The part of a connection of `smtp-server` that reads MAIL and RCPT. */
export interface PathReader {
  _parseAddressCommand(name: string, command: Buffer | string): ParsedPath | false;
}

interface ParsedPath {
  address: string;
}

/**
 * Matches `MAIL FROM:<path> parameters`. The path may contain spaces and brackets in quotes, but no control characters. A
 * parameter may contain brackets, as `AUTH=<>` does (RFC 4954 §5).
 */
const COMMAND = /^([^:]*:\s*)<((?:"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"|[^"<>\p{Cc}])+@[^"<>\p{Cc}]+)>((?:\s.*)?)$/u;
/** Matches a path with brackets or half a quote, which our handlers refuse with the reason. */
const WRONG_COMMAND = /^([^:]*:\s*)<([^\p{Cc}]+@[^\p{Cc}]+)>((?:\s[^<>]*)?)$/u;
/** Replaces the path while the library reads the parameters. */
const ANY_PATH = '<path@example.com>';

/**
 * Makes a connection of `smtp-server` pass on the path of MAIL and RCPT unchanged. The library supports no quoted local
 * parts, converts A-labels to Unicode, and refuses without a reason. Our handlers check addresses by the service's own
 * rule (`parseMailbox`) and name the error.
 */
export function passPathsUnchanged(connection: PathReader): void {
  const read = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, command) => {
    const text = command.toString();
    const [, verb, path, parameters] = COMMAND.exec(text) ?? WRONG_COMMAND.exec(text) ?? [];
    // A source route (`<@relay.example:ada@example.com>`) is left to the library, which ignores it.
    if (verb === undefined || path === undefined || path.startsWith('@')) return read(name, command);
    const parsed = read(name, `${verb}${ANY_PATH}${parameters ?? ''}`);
    return parsed && Object.assign(parsed, { address: path });
  };
}
