/** The connection of `smtp-server`, as far as its reading of MAIL and RCPT goes. */
export interface PathReader {
  _parseAddressCommand(name: string, command: Buffer | string): ParsedPath | false;
}

interface ParsedPath {
  address: string;
}

/** `MAIL FROM:<path> parameters`; the path may hold blanks and brackets in quotes, but no control characters. */
const COMMAND = /^([^:]*:\s*)<([^\p{Cc}]+@[^\p{Cc}]+)>((?:\s[^<>]*)?)$/u;
/** Stands for the path while the library reads the parameters. */
const ANY_PATH = '<path@example.com>';

/**
 * Makes a connection of `smtp-server` hand over the path of MAIL and RCPT as it came. The library knows no quoted local
 * part, turns A-labels into Unicode, and refuses without a reason; our handlers judge addresses by the one rule of the
 * service (`parseMailbox`) and say what is wrong.
 */
export function handOverPaths(connection: PathReader): void {
  const read = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, command) => {
    const [, verb, path, parameters] = COMMAND.exec(command.toString()) ?? [];
    // A source route (`<@relay.example:ada@example.com>`) is for the library, which skips it.
    if (verb === undefined || path === undefined || path.startsWith('@')) return read(name, command);
    const parsed = read(name, `${verb}${ANY_PATH}${parameters ?? ''}`);
    return parsed && Object.assign(parsed, { address: path });
  };
}
