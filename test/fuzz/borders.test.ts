import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createInboundHandler } from '../../api/mail/inbound-email.ts';
import { createRelayHandler } from '../../api/mail/smtp-relay.ts';
import { startInboundListener } from '../../channels/inbound/listener.ts';
import { startRelayListener } from '../../channels/relay/listener.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { csv, generateText, smtp } from './untrusted.ts';

let api: TestApi;
const listeners: { port: number; close(): Promise<void> }[] = [];

beforeAll(async () => {
  api = await startTestApi();
  const common = { host: '127.0.0.1', port: 0, name: 'mx.example.com', tls: undefined, onError: () => {} };
  listeners.push(
    await startInboundListener({ ...common, handler: await createInboundHandler(api.deps) }),
    await startRelayListener({ ...common, allowPlain: true, handler: await createRelayHandler(api.deps) }),
  );
});
afterAll(async () => {
  await Promise.all(listeners.map((listener) => listener.close()));
  await api.close();
});

/** Returns all replies of a session to these lines and a QUIT. */
function runSession(port: number, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let replies = '';
    socket.on('data', (bytes) => {
      // A client that sends commands before the greeting is disconnected.
      if (replies === '') socket.write(`${[...lines, '', '.', 'QUIT'].join('\r\n')}\r\n`);
      replies += bytes.toString('latin1');
    });
    socket.on('close', () => resolve(replies));
    // The server may disconnect in the middle of a command.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve(replies) : reject(error),
    );
  });
}

it.each([0, 1])(
  'SMTP listener %i replies to any sequence of commands with valid reply lines, and keeps listening',
  async (which) => {
    const port = listeners[which]?.port ?? 0;
    const property = fc.asyncProperty(smtp, async (lines) => {
      const replies = (await runSession(port, lines)).split('\r\n').slice(0, -1);
      expect(replies.filter((line) => !/^[2-5]\d\d[ -]/.test(line))).toEqual([]);
      expect(replies[0]).toMatch(/^220 /);
    });
    await fc.assert(property, { numRuns: 60 });
    expect(await runSession(port, ['EHLO again'])).toMatch(/^250[ -]/m);
  },
);

it('a form or JSON of any shape gets a documented response, never an internal error', async () => {
  const post = async (path: string, type: string, body: string) => {
    const headers = { 'content-type': type, authorization: `Bearer ${api.one.secretKey}` };
    const { status } = await api.app.request(path, { method: 'POST', headers, body });
    return status;
  };
  const form = generateText(
    ['--b', '--b--', '\r\n\r\n', 'Content-Disposition: form-data; name="file"; filename="', 'email,plan', '"'],
    500,
  );
  const json = generateText(
    ['{"email":"a@b.example"', '"data":', '[', ']', '{', '}', 'null', '1e999', '"\\ud800"', '__proto__'],
    500,
  );
  const file = csv.map(
    (rows) => `--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${rows}\r\n--b--`,
  );
  const property = fc.asyncProperty(fc.oneof(form, file), json, async (parts, text) => {
    expect([202, 400, 413, 422]).toContain(await post('/contacts/import', 'multipart/form-data; boundary=b', parts));
    expect([200, 201, 400, 413, 422]).toContain(await post('/contacts', 'application/json', text));
  });
  await fc.assert(property, { numRuns: 60 });
});
