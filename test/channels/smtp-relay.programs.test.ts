import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fetchDebianFiles } from '../support/debian-packages.ts';
import { runProgram } from '../support/run-program.ts';
import { type RelayService, startRelayService } from '../support/smtp/relay-service.ts';

const CURL_LOGIN_DENIED = 67;
/** Exit codes of swaks. */
const [SWAKS_DATA_FAILED, SWAKS_AUTH_FAILED] = [26, 28];

let relay: RelayService;

beforeAll(async () => {
  relay = await startRelayService();
});
beforeEach(() => relay.sink.reset());
afterAll(() => relay?.close());

it("Python's smtplib sends through the SMTP relay with STARTTLS", async () => {
  const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
m = EmailMessage()
m['From'] = 'Shop <hello@sender.test>'
m['To'] = 'py@to.test, py2@to.test'
m['Subject'] = 'Grüße aus Python'
m['X-Tag'] = 'py'
m.set_content('Text äöü\\n.a line with a dot\\n')
m.add_alternative('<p>HTML äöü</p>', subtype='html')
m.add_attachment(b'\\x00\\x01', maintype='application', subtype='octet-stream', filename='a.bin')
c = ssl.create_default_context(); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
with smtplib.SMTP('127.0.0.1', ${relay.port}) as s:
    s.starttls(context=c)
    s.login('apikey', sys.argv[1])
    refused = s.send_message(m)
    assert refused == {}, refused
    try:
        s.sendmail('x@elsewhere.test', ['py@to.test'], 'From: x@elsewhere.test\\r\\n\\r\\nx')
    except smtplib.SMTPDataError as e:
        assert e.smtp_code == 550 and e.smtp_error.startswith(b'5.7.1 '), e
    else:
        raise AssertionError('accepted')
`;
  const { code, output } = await runProgram('python3', ['-c', script, relay.service.one.secretKey]);
  expect(code, output).toBe(0);
  const bodies = await relay.waitForEmails(2);
  const parsed = await PostalMime.parse(Buffer.from(bodies[0] ?? '', 'latin1'));
  expect(parsed).toMatchObject({ subject: 'Grüße aus Python', text: expect.stringContaining('.a line with a dot') });
  expect(parsed.html).toContain('<p>HTML äöü</p>');
  expect(parsed.attachments).toMatchObject([{ filename: 'a.bin', disposition: 'attachment' }]);
});

it('curl sends through the SMTP relay with STARTTLS', async () => {
  const message = join(tmpdir(), 'curl.eml');
  const lines = ['From: hello@sender.test', 'To: curl@to.test', 'Subject: From curl', '', '.a dot', 'The end', ''];
  await writeFile(message, lines.join('\r\n'));
  const runCurl = (from: string, key: string) => {
    const envelope = ['--mail-from', from, '--mail-rcpt', 'curl@to.test', '--upload-file', message];
    const login = ['--ssl-reqd', '--insecure', '--user', `apikey:${key}`];
    return runProgram('curl', ['--silent', '--show-error', `smtp://127.0.0.1:${relay.port}`, ...login, ...envelope]);
  };
  const { code, output } = await runCurl('hello@sender.test', relay.service.one.secretKey);
  expect(code, output).toBe(0);
  const raw = (await relay.waitForEmails())[0] ?? '';
  expect(raw).toContain(lines.slice(0, 3).join('\r\n'));
  expect((await PostalMime.parse(raw.replaceAll('\r\n..', '\r\n.'))).text).toBe('.a dot\nThe end\n');
  expect((await runCurl('hello@sender.test', 'sk_live_wrong')).code).toBe(CURL_LOGIN_DENIED);
});

const debian = await fetchDebianFiles(['swaks', 'libnet-ssleay-perl']);
const missing = typeof debian === 'string' ? debian : undefined;

describe.skipIf(missing)(`swaks${missing ? ` (skipped: ${missing})` : ''}`, () => {
  /** Runs the program as `docs/smtp-relay.md` shows. */
  async function runSwaks(p: { key?: string; from?: string; options?: string[] } = {}) {
    const { key = relay.service.one.secretKey, from = 'hello@sender.test', options = [] } = p;
    const words = ['--server', '127.0.0.1', '--port', String(relay.port), '-tls', '--auth-user', 'apikey'];
    const message = ['--from', from, '--to', 'ada@to.test', '--header', 'Subject: Hello', '--body', 'It works.'];
    const env = typeof debian === 'string' ? process.env : debian.env;
    return runProgram('swaks', [...words, '--auth-password', key, ...message, ...options], env);
  }

  it.each([
    ['by AUTH PLAIN', ['--auth', 'PLAIN']],
    ['by AUTH LOGIN', ['--auth', 'LOGIN']],
    ['with its commands pipelined', ['--pipeline']],
    ['with a file', ['--attach-name', 'a.bin', '--attach-type', 'application/pdf', '--attach', 'PDF\\n.\\n']],
  ])('sends through the SMTP relay %s, over STARTTLS', async (_how, options) => {
    const { code, output } = await runSwaks({ options });
    expect(code, output).toBe(0);
    expect(output).toMatch(/=== TLS started with cipher TLSv1\.3/);
    expect(output).toMatch(/<~ +235 /);
    expect(output).toMatch(/<~ +250 2\.0\.0 Accepted as [0-9a-f-]{36}/);
    const parsed = await PostalMime.parse((await relay.waitForEmails())[0] ?? '');
    expect(parsed).toMatchObject({ subject: 'Hello', to: [{ address: 'ada@to.test' }] });
    expect(parsed.text?.trim()).toBe('It works.');
    expect(parsed.attachments.map(({ filename }) => filename)).toEqual(options.includes('--attach') ? ['a.bin'] : []);
  });

  it('gets the reason of a refusal', async () => {
    const wrongKey = await runSwaks({ key: 'sk_live_wrong' });
    expect([wrongKey.code, wrongKey.output]).toEqual([SWAKS_AUTH_FAILED, expect.stringMatching(/535 5\.7\.8 \w/)]);
    const noScope = await runSwaks({ key: relay.service.one.bareKey });
    expect([noScope.code, noScope.output]).toEqual([SWAKS_AUTH_FAILED, expect.stringContaining('email:send')]);
    const notOurs = await runSwaks({ from: 'x@elsewhere.test' });
    expect([notOurs.code, notOurs.output]).toEqual([SWAKS_DATA_FAILED, expect.stringMatching(/550 5\.7\.1 \w/)]);
    expect(relay.sink.messages).toEqual([]);
  });
});
