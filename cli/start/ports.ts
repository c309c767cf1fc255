import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { StartError } from './error.ts';
import { readJson, writePrivate } from './private-files.ts';

/**
 * Ports are chosen from this range. The system uses ports from 32768 on for outgoing connections, so an outgoing
 * connection cannot occupy a chosen port.
 */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 200;

/** Tells whether a server could listen on a port now. Throws any error of the attempt except EADDRINUSE. */
async function isPortFree(host: string, port: number): Promise<boolean> {
  try {
    await listenOnce(host, port);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}

/**
 * Checks that a server can listen on a port.
 * @throws StartError with a one-line message that names the variable
 */
export async function requirePort(
  variable: string,
  host: string,
  port: number,
  hostVariable: 'HOST' | 'METRICS_HOST' = 'HOST',
): Promise<void> {
  try {
    await listenOnce(host, port);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new StartError(`Port ${port} on ${host} is in use by another program: set ${variable} to a free one.`, {
        cause,
      });
    }
    if (code === 'EACCES') {
      throw new StartError(`Port ${port} is not open to this user: set ${variable} to a port above 1023.`, { cause });
    }
    throw new StartError(
      `${hostVariable} ${host} is not an address of this machine (${code}): set it to an address of this machine.`,
      {
        cause,
      },
    );
  }
}

/**
 * The ports that this process has already chosen. A chosen port looks free until its server listens on the port.
 * Without this set, the same port could be chosen again before that.
 */
const chosen = new Set<number>();

/**
 * Returns a port that is free on `host`, outside the range of outgoing connections, and not chosen by this process
 * before. `draw` returns the next port to try.
 */
export async function findFreePort(host = '127.0.0.1', draw = () => randomInt(FIRST_PORT, LAST_PORT)): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = draw();
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isPortFree(host, port)) return port;
    chosen.delete(port);
  }
  throw new StartError(`No free port was found on ${host} between ${FIRST_PORT} and ${LAST_PORT}.`);
}

/**
 * Returns the port that `name` had at the last start if it is still free. Otherwise chooses a new port and stores
 * it in `file`.
 */
export async function reuseOrChoosePort(file: string, name: string, host = '127.0.0.1'): Promise<number> {
  const ports = readJson<Record<string, number>>(file) ?? {};
  const lastPort = ports[name];
  if (lastPort !== undefined && (await isPortFree(host, lastPort))) {
    chosen.add(lastPort);
    return lastPort;
  }
  const port = await findFreePort(host);
  writePrivate(file, JSON.stringify({ ...ports, [name]: port }, null, 2));
  return port;
}

function listenOnce(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}
