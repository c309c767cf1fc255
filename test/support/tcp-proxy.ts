import type { AddressInfo } from 'node:net';
import net from 'node:net';

/** A port that forwards to a server while it is open. A test can close it to simulate an outage. */
export interface TcpProxy {
  readonly address: string;
  /** Refuses new connections and breaks all open ones. */
  close(): Promise<void>;
  open(): Promise<void>;
}

/** Starts a proxy to `host:port`. It is open at first. It keeps its port while it is closed. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host, port] = target.split(':');
  const sockets = new Set<net.Socket>();
  let listening = 0;
  let server: net.Server | undefined;

  const trackSocket = (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const open = async () => {
    const created = net.createServer((client) => {
      const upstream = trackSocket(net.connect(Number(port), host));
      trackSocket(client).pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
    await new Promise<void>((resolve) => created.listen(listening, '127.0.0.1', resolve));
    listening = (created.address() as AddressInfo).port;
    server = created;
  };
  await open();
  return {
    address: `127.0.0.1:${listening}`,
    open,
    close: () =>
      new Promise((resolve) => {
        if (!server) return resolve();
        server.close(() => resolve());
        server = undefined;
        for (const socket of sockets) socket.destroy();
      }),
  };
}
