import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';
import { type RelayService, startRelayService } from '../support/smtp/relay-service.ts';

const PROGRAM = join(import.meta.dirname, '..', 'support', 'smtp', 'send-mail.go');
const missing = spawnSync('go', ['version']).status === 0 ? '' : ' (skipped: go is not on PATH)';

describe.skipIf(missing)(`Go's net/smtp${missing}`, () => {
  let relay: RelayService;
  beforeAll(async () => {
    relay = await startRelayService();
  });
  afterAll(() => relay?.close());

  const send = (from: string, key = relay.service.one.secretKey) =>
    runProgram('go', ['run', PROGRAM, `127.0.0.1:${relay.port}`, key, from]);

  it('sends through the SMTP relay with STARTTLS, and gets the reason of a refusal', async () => {
    const { code, output } = await send('hello@sender.test');
    expect(code, output).toBe(0);
    const raw = ((await relay.waitForEmails())[0] ?? '').replaceAll('\r\n..', '\r\n.');
    expect(raw).toMatch(/\r\nMessage-ID: <go\.1@sender\.test>\r\n/);
    expect(raw).toContain('\r\n\r\n.a line with a dot\r\nGr\xc3\xbc\xc3\x9fe\r\n');
    expect(await PostalMime.parse(Buffer.from(raw, 'latin1'))).toMatchObject({ subject: 'From Go' });
    expect((await send('x@elsewhere.test')).output).toMatch(/550 "?5\.7\.1 /);
    expect((await send('hello@sender.test', 'sk_live_wrong')).output).toMatch(/535 "?5\.7\.8 /);
  });
});
