import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  received: ReceivedRequest[];
  close(): Promise<void>;
}

/**
 * Starts a real HTTP server on loopback, on a free port by default. `respond` decides the response to each request (200
 * by default).
 */
export async function startWebhookReceiver(
  respond: (request: ReceivedRequest, response: ServerResponse) => unknown = (_, response) => response.end('ok'),
  port = 0,
): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(parts).toString('utf8'),
    };
    received.push(request);
    respond(request, response);
  });
  // Rejects if the port is in use.
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
