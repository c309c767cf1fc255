import net from 'node:net';

export interface ScriptedSmtp {
  url: string;
  /** Lines of all connections, in order of arrival. */
  lines: string[];
  connections: number;
  close(): Promise<void>;
}

/**
 * Returns the reply to a line. A text is sent with CRLF, and null sends no reply. The line `.` is the end of a message.
 */
export type Script = (line: string, socket: net.Socket, connection: number) => string | null;

/** Starts a server whose replies a test sets line by line, because real servers do not send some replies on request. */
export async function startScriptedSmtp(
  script: Script,
  greeting: string | null = '220 scripted',
): Promise<ScriptedSmtp> {
  const sockets = new Set<net.Socket>();
  const state: ScriptedSmtp = { url: '', lines: [], connections: 0, close: async () => {} };
  const server = net.createServer((socket) => {
    state.connections += 1;
    const connection = state.connections;
    let rest = '';
    let inBody = false;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    if (greeting !== null) socket.write(`${greeting}\r\n`);
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (inBody && line !== '.') continue;
        inBody = false;
        state.lines.push(line);
        const reply = script(line, socket, connection);
        if (reply?.startsWith('354')) inBody = true;
        if (reply !== null && socket.writable) socket.write(`${reply}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  state.url = `smtp://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  state.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return state;
}

/** Returns a script that accepts everything, except commands whose first word has a reply in `overrides`. */
export function createAcceptingScript(
  overrides: Record<string, string | null> = {},
  keywords = ['PIPELINING'],
): Script {
  return (line) => {
    const verb = line.split(/[ :]/)[0] ?? '';
    const override = overrides[verb];
    if (override !== undefined) return override;
    if (verb === 'EHLO')
      return ['scripted', ...keywords].map((k, i, all) => `250${i === all.length - 1 ? ' ' : '-'}${k}`).join('\r\n');
    if (verb === 'DATA') return '354 go on';
    if (verb === 'QUIT') return '221 bye';
    return '250 2.0.0 Ok';
  };
}
