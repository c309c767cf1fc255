import { expect, it } from 'vitest';
import { passPathsUnchanged } from './smtp-path.ts';

/** Returns the path of a command as our handlers get it. */
function readPath(command: string): string | false {
  const connection = {
    _parseAddressCommand: (_: string, text: Buffer | string): { address: string } | false => ({ address: `${text}` }),
  };
  passPathsUnchanged(connection);
  const parsed = connection._parseAddressCommand('mail from', command);
  return parsed ? parsed.address : false;
}

it.each([
  ['MAIL FROM:<ann@example.org> AUTH=<>', 'ann@example.org'],
  ['MAIL FROM:<ann@example.org> AUTH=<bob@example.org> SIZE=3', 'ann@example.org'],
  ['RCPT TO:<"ann lee"@example.org> NOTIFY=NEVER', '"ann lee"@example.org'],
  ['RCPT TO:<"a>b@c"@example.org>', '"a>b@c"@example.org'],
  ['RCPT TO:<a"b@example.org>', 'a"b@example.org'],
  ['RCPT TO:<ann@xn--mnchen-3ya.example>', 'ann@xn--mnchen-3ya.example'],
])('the path of %s is %s', (command, path) => expect(readPath(command)).toBe(path));
