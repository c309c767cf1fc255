import type { AddressInfo } from 'node:net';
import net from 'node:net';

/** The part of a COMMIT that is lost when its connection breaks. */
export type ProxyLoss = 'request' | 'response';

/** A proxy to Postgres that loses messages at a test's request. */
export interface PostgresProxy {
  readonly url: string;
  /** Number of COMMITs so far, including lost ones. */
  readonly commits: number;
  /**
   * Breaks the connection of the next COMMIT, or of the COMMIT that comes `skip` COMMITs later: before Postgres gets the
   * COMMIT ('request'), or after Postgres has carried it out ('response'). With `later: 'refused'`, the proxy then breaks
   * all other connections too, and accepts none until `open`, as when Postgres or the network is down.
   */
  loseCommit(what: ProxyLoss, more?: { later?: 'refused'; skip?: number }): void;
  /** Text of all simple and prepared statements that clients have sent. */
  readonly statements: readonly string[];
  /** Breaks all open connections. */
  cut(): void;
  /** Accepts connections again. */
  open(): void;
  close(): Promise<void>;
}

/**
 * The size of the field with a message's length. The field is at the start of a client's first message, which opens a
 * session. In all later messages, a byte with the type comes before the field.
 */
const LENGTH_BYTES = 4;
const SIMPLE_QUERY = 'Q';
const PARSE = 'P';

/** Starts a proxy that reads the messages of clients, without TLS. */
export async function startPostgresProxy(target: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  let loss: { what: ProxyLoss; later: 'refused' | undefined; at: number } | undefined;
  const statements: string[] = [];
  let commits = 0;
  let refusing = false;

  const trackSocket = (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    return socket.on('close', () => sockets.delete(socket));
  };
  const server = net.createServer((client) => {
    if (refusing) return void client.destroy();
    const upstream = trackSocket(net.connect(Number(port), hostname));
    trackSocket(client).on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    let lost: typeof loss;
    const cutConnections = () => {
      refusing = lost?.later === 'refused';
      for (const socket of refusing ? sockets : [client]) socket.destroy();
    };
    upstream.on('data', (chunk) => void (lost ? cutConnections() : client.write(chunk)));
    readMessages(client, (message, query) => {
      if (query !== undefined) statements.push(query);
      if (query?.toLowerCase() === 'commit') {
        commits += 1;
        if (loss?.at === commits) [lost, loss] = [loss, undefined];
        if (lost?.what === 'request') return cutConnections();
      }
      upstream.write(message);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    get commits() {
      return commits;
    },
    loseCommit: (what, { later, skip = 0 } = {}) => {
      loss = { what, later, at: commits + 1 + skip };
    },
    statements,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    open: () => {
      refusing = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Calls back with each message, and with its text if it is a statement. */
function readMessages(socket: net.Socket, onMessage: (message: Buffer, statement: string | undefined) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < end) return;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      const statement = typeBytes === 1 ? parseStatement(message) : undefined;
      typeBytes = 1;
      onMessage(message, statement);
    }
  });
}

function parseStatement(message: Buffer): string | undefined {
  const [first, second] = message.toString('utf8', 1 + LENGTH_BYTES).split('\0');
  const type = String.fromCharCode(message[0] ?? 0);
  // The message of a prepared statement has the statement's name before its text.
  if (type === PARSE) return second;
  return type === SIMPLE_QUERY ? first : undefined;
}
