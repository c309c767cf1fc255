import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeSes {
  endpoint: string;
  requests: {
    method: string;
    path: string;
    authorization: string;
    to: string[];
    raw: string;
    tags: Record<string, string>;
  }[];
  /** The next responses, in this order. Later responses are 200. `hang up` closes the connection. */
  responses: (FakeResponse | 'hang up')[];
  close(): Promise<void>;
}

interface FakeResponse {
  status: number;
  /** The error's type, as SES sends it in `x-amzn-ErrorType`. */
  type: string;
  message: string;
}

/** Starts a server with the SendEmail operation of SESv2. */
export async function startFakeSes(): Promise<FakeSes> {
  const fake: FakeSes = { endpoint: '', requests: [], responses: [], close: async () => {} };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const input = JSON.parse(Buffer.concat(chunks).toString());
    fake.requests.push({
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization ?? '',
      to: input.Destination.ToAddresses,
      raw: Buffer.from(input.Content.Raw.Data, 'base64').toString('latin1'),
      tags: Object.fromEntries(
        (input.EmailTags ?? []).map((tag: { Name: string; Value: string }) => [tag.Name, tag.Value]),
      ),
    });
    const planned = fake.responses.shift();
    if (planned === 'hang up') return request.socket.destroy();
    response.setHeader('content-type', 'application/json');
    if (!planned) return response.end(JSON.stringify({ MessageId: `ses-${fake.requests.length}` }));
    response.writeHead(planned.status, { 'x-amzn-errortype': planned.type });
    response.end(JSON.stringify({ message: planned.message }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  fake.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fake.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return fake;
}
