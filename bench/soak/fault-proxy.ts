import net, { type AddressInfo } from 'node:net';

/**
 * Inspects the bytes of one connection. If `down` returns `cut`, the proxy closes the connection instead of forwarding
 * this response.
 */
export interface Tap {
  up?(chunk: Buffer): void;
  down?(chunk: Buffer): 'pass' | 'cut';
  closed?(): void;
}

/** A proxy to a server that can slow down or break connections. */
export interface FaultProxy {
  readonly port: number;
  readonly address: string;
  /** The delay of every packet, in both directions, in ms; 0 means no delay. */
  setDelay(ms: number): void;
  /** Breaks all connections, and returns how many there were. */
  cutConnections(): number;
  /** Breaks all connections and refuses new ones, or accepts new ones again. */
  setDown(isDown: boolean): void;
  close(): Promise<void>;
}

/** Starts a proxy to a port of this machine. The proxy calls `tapOf` for each connection. */
export async function startFaultProxy(targetPort: number, tapOf: () => Tap = () => ({})): Promise<FaultProxy> {
  const links = new Set<() => void>();
  let delayMs = 0;
  let refuses = false;

  const server = net.createServer((client) => {
    client.on('error', () => {});
    if (refuses) return void client.destroy();
    const upstream = net.connect(targetPort, '127.0.0.1').setNoDelay(true);
    client.setNoDelay(true);
    const tap = tapOf();
    let open = true;
    const end = () => {
      if (!open) return;
      open = false;
      links.delete(end);
      client.destroy();
      upstream.destroy();
      tap.closed?.();
    };
    links.add(end);
    const [toUpstream, toClient] = [createDelayedWriter(upstream), createDelayedWriter(client)];
    client.on('data', (chunk: Buffer) => {
      if (!open) return;
      tap.up?.(chunk);
      toUpstream(chunk, delayMs);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (!open) return;
      if (tap.down?.(chunk) === 'cut') end();
      else toClient(chunk, delayMs);
    });
    upstream.on('error', end).on('end', () => toClient(null, delayMs));
    client.on('end', () => toUpstream(null, delayMs));
    upstream.on('close', () => setTimeout(end, delayMs));
    client.on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cutConnections = () => {
    const ends = [...links];
    for (const end of ends) end();
    return ends.length;
  };
  return {
    port,
    address: `127.0.0.1:${port}`,
    cutConnections,
    setDelay: (ms) => {
      delayMs = ms;
    },
    setDown: (isDown) => {
      refuses = isDown;
      if (isDown) cutConnections();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cutConnections();
      }),
  };
}

/** Returns a function that writes chunks to a socket in order, each after its delay. A null chunk ends the stream. */
function createDelayedWriter(socket: net.Socket): (chunk: Buffer | null, ms: number) => void {
  let lastAt = 0;
  const write = (chunk: Buffer | null) => {
    if (!socket.writable) return;
    if (chunk === null) socket.end();
    else socket.write(chunk);
  };
  return (chunk, ms) => {
    const now = performance.now();
    const at = Math.max(lastAt, now + ms);
    if (at <= now) return write(chunk);
    lastAt = at + 0.001; // Later chunks get a later timer, so that chunks keep their order.
    setTimeout(() => write(chunk), at - now);
  };
}
