/** The method of a connection of the library `smtp-server` that parses MAIL and RCPT. */
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
/**
 * Matches an invalid path, with brackets or an unpaired quotation mark. Our handlers get this path and refuse it with
 * the reason.
 */
const WRONG_COMMAND = /^([^:]*:\s*)<([^\p{Cc}]+@[^\p{Cc}]+)>((?:\s[^<>]*)?)$/u;
/** A valid path. It replaces the real path while the library parses the parameters of the command. */
const ANY_PATH = '<path@example.com>';

/**
 * Makes a connection of `smtp-server` pass the path of MAIL and RCPT unchanged to our handlers. The library does not
 * support quoted local parts, converts domains to Unicode, and gives no reason when it refuses. Our handlers check
 * addresses with `parseMailbox`, like the rest of the service, and name the error.
 */
export function passPathsUnchanged(connection: PathReader): void {
  const read = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, command) => {
    const text = command.toString();
    const [, verb, path, parameters] = COMMAND.exec(text) ?? WRONG_COMMAND.exec(text) ?? [];
    // The library handles a source route (`<@relay.example:ada@example.com>`), which it removes.
    if (verb === undefined || path === undefined || path.startsWith('@')) return read(name, command);
    const parsed = read(name, `${verb}${ANY_PATH}${parameters ?? ''}`);
    return parsed && Object.assign(parsed, { address: path });
  };
}
