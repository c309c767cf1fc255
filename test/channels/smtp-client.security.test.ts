import type { SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { SmtpPool } from '../../channels/email/smtp/pool.ts';
import type { SmtpMessage, SmtpTimeouts } from '../../channels/email/smtp/types.ts';
import { startSmtpServer } from '../../cli/demo/smtp-server.ts';
import { createCertificate } from '../support/certificate.ts';
import { createAcceptingScript, type Script, startScriptedSmtp } from '../support/smtp/scripted-smtp.ts';
import { startSmtpSink } from '../support/smtp/smtp-sink.ts';

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});

async function startServer(options: SMTPServerOptions = {}) {
  const started = await startSmtpServer(options);
  cleanup.push(() => started.close());
  return started;
}

async function openScripted(script: Script) {
  const started = await startScriptedSmtp(script);
  cleanup.push(() => started.close());
  return started;
}

function createPool(url: string, timeouts: Partial<SmtpTimeouts> = {}): SmtpPool {
  const created = new SmtpPool({ url, connections: 1, timeouts });
  cleanup.push(() => created.close(0));
  return created;
}

const message: SmtpMessage = {
  id: '1',
  from: 'bounces@example.com',
  to: 'ann@example.org',
  data: 'Subject: hello\r\n\r\n.Hello\r\n',
};

describe('TLS of the SMTP client', () => {
  it('is used if STARTTLS is offered, and a self-signed certificate is accepted on loopback', async () => {
    const { port, emails } = await startServer();
    expect(await createPool(`smtp://127.0.0.1:${port}`).send(message)).toMatchObject({ outcome: 'accepted' });
    expect(emails).toMatchObject([{ secure: true, body: 'Subject: hello\r\n\r\n.Hello\r\n' }]);
  });

  it('transfers a message of several megabytes completely, in pieces', async () => {
    const { port, emails } = await startServer();
    const text = `Subject: hello\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(40_000)}`;
    const sent = await createPool(`smtp://127.0.0.1:${port}`).send({ ...message, data: Buffer.from(text, 'latin1') });
    expect(sent).toMatchObject({ outcome: 'accepted' });
    expect(emails.map(({ secure, body }) => [secure, body === text])).toEqual([[true, true]]);
  });

  it('resumes the session of an earlier connection', async () => {
    const sink = await startSmtpSink({ tls: await createCertificate() });
    cleanup.push(() => sink.close());
    const sender = createPool(`${sink.url}?maxMessages=1`);
    for (const id of ['1', '2', '3']) expect((await sender.send({ ...message, id })).outcome).toBe('accepted');
    expect(sink.counts).toMatchObject({ messages: 3, connections: 3, encrypted: 3, resumed: 2 });
  });

  it('is used from the first byte with smtps', async () => {
    const { port, emails } = await startServer({ secure: true });
    expect(await createPool(`smtps://127.0.0.1:${port}`).send(message)).toMatchObject({ outcome: 'accepted' });
    expect(emails).toMatchObject([{ secure: true }]);
  });

  it.each(['smtp', 'smtps'])('sends nothing over %s if the certificate cannot be verified', async (protocol) => {
    const { port, emails } = await startServer({ secure: protocol === 'smtps' });
    const result = await createPool(`${protocol}://127.0.0.1:${port}?tls.rejectUnauthorized=true`).send(message);
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringMatching(/self[- ]signed|certificate/) });
    expect(emails).toEqual([]);
  });

  it('is not used with ignoreTLS=true', async () => {
    const { port, emails } = await startServer();
    await createPool(`smtp://127.0.0.1:${port}?ignoreTLS=true`).send(message);
    expect(emails).toMatchObject([{ secure: false }]);
  });

  it('sends nothing with requireTLS=true if the server does not offer it', async () => {
    const { port, emails } = await startServer({ hideSTARTTLS: true });
    const result = await createPool(`smtp://127.0.0.1:${port}?requireTLS=true`).send(message);
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringContaining('STARTTLS') });
    expect(emails).toEqual([]);
  });

  it('ignores unencrypted text that was injected after the reply to STARTTLS', async () => {
    const forged = '250-forged\r\n250-AUTH PLAIN\r\n250 PIPELINING';
    const { url, lines } = await openScripted(
      createAcceptingScript({ STARTTLS: `220 go ahead\r\n${forged}` }, ['STARTTLS']),
    );
    const result = await createPool(url.replace('smtp://', 'smtp://user:secret@'), { commandMs: 60 }).send(message);
    expect(result).toMatchObject({ outcome: 'unsent' });
    expect(lines.some((line) => line.startsWith('AUTH'))).toBe(false);
  });

  it('is required if the server offers STARTTLS: nothing is sent if the server then refuses it', async () => {
    const { url, lines } = await openScripted(
      createAcceptingScript({ STARTTLS: '454 4.7.0 TLS not available' }, ['STARTTLS']),
    );
    expect(await createPool(url).send(message)).toMatchObject({
      outcome: 'refused',
      stage: 'starttls',
      permanent: false,
      code: 454,
    });
    expect(lines.some((line) => line.startsWith('MAIL'))).toBe(false);
  });
});

describe('AUTH of the SMTP client', () => {
  it.each(['PLAIN', 'LOGIN', 'CRAM-MD5'])('signs in with %s', async (method) => {
    const { port, emails, logins } = await startServer({ authMethods: [method] });
    const result = await createPool(`smtp://ann%40example.com:secret@127.0.0.1:${port}`).send(message);
    expect(result).toMatchObject({ outcome: 'accepted' });
    expect(logins).toMatchObject([{ method, user: 'ann@example.com', secure: true }]);
    expect(emails).toMatchObject([{ user: 'ann@example.com' }]);
  });

  it.each(['PLAIN', 'LOGIN', 'CRAM-MD5'])(
    'refused with %s does not fail the email, which can be sent later',
    async (method) => {
      const { port, emails } = await startServer({ authMethods: [method] });
      const result = await createPool(`smtp://ann:wrong@127.0.0.1:${port}`).send(message);
      expect(result).toMatchObject({ outcome: 'refused', stage: 'auth', permanent: false, code: 535 });
      expect(JSON.stringify(result)).not.toContain('wrong');
      expect(emails).toEqual([]);
    },
  );

  it('does not send a password if no supported mechanism is offered', async () => {
    const { url, lines } = await openScripted(createAcceptingScript({}, ['AUTH GSSAPI']));
    const result = await createPool(url.replace('smtp://', 'smtp://ann:secret@')).send(message);
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringContaining('AUTH') });
    expect(lines.some((line) => line.startsWith('AUTH'))).toBe(false);
  });

  it('reports a refusal without the password, although the server repeats its input', async () => {
    const seen: string[] = [];
    const echo: Script = (line, socket, n) => {
      seen.push(line);
      return line.startsWith('AUTH')
        ? `501 5.5.2 What is ${line}?`
        : createAcceptingScript({}, ['AUTH PLAIN'])(line, socket, n);
    };
    const { url } = await openScripted(echo);
    const result = await createPool(url.replace('smtp://', 'smtp://ann:secret@')).send(message);
    expect(result).toMatchObject({ outcome: 'refused', stage: 'auth', text: '5.5.2 What is AUTH PLAIN ***?' });
    expect(seen.some((line) => line.startsWith('AUTH PLAIN A'))).toBe(true);
  });

  it.each(['MAIL', 'RCPT'])(
    'demanded at %s does not fail the email either, because no recipient is at fault',
    async (verb) => {
      const { url } = await openScripted(createAcceptingScript({ [verb]: '530 5.7.0 Authentication required' }));
      const result = await createPool(url).send(message);
      expect(result).toMatchObject({ outcome: 'refused', stage: 'auth', permanent: false, code: 530 });
    },
  );
});
