import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

const BODY_MAX_BYTES = 1_000_000;

/** A received request. */
export interface ReceivedHook {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A web server on loopback for the requests of WEBHOOK steps and webhook deliveries. */
export interface HookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedHook[];
  close(): void;
}

export async function startHookReceiver(): Promise<HookReceiver> {
  const received: ReceivedHook[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) if (body.length < BODY_MAX_BYTES) body += part;
    received.push({ headers: request.headers, body });
    response.end('{"ok":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
