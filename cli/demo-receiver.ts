import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const BODY_MAX_BYTES = 1_000_000;

/** A web server on loopback that WEBHOOK steps can call. */
export interface HookReceiver {
  readonly url: string;
  /** Bodies of the requests that came. */
  readonly received: unknown[];
  close(): void;
}

export async function startHookReceiver(): Promise<HookReceiver> {
  const received: unknown[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) if (text.length < BODY_MAX_BYTES) text += part;
    received.push(JSON.parse(text));
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
