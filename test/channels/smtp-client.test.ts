import { afterEach, describe, expect, it } from 'vitest';
import { SmtpPool, type SmtpPoolOptions } from '../../channels/email/smtp/pool.ts';
import type { SmtpMessage, SmtpResult } from '../../channels/email/smtp/types.ts';
import { createAcceptingScript, type ScriptedSmtp, startScriptedSmtp } from '../support/smtp/scripted-smtp.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '../support/smtp/smtp-sink.ts';

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});

async function startSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const started = await startSmtpSink({ keepBodies: true, ...options });
  cleanup.push(() => started.close());
  return started;
}

async function startScripted(...args: Parameters<typeof startScriptedSmtp>): Promise<ScriptedSmtp> {
  const started = await startScriptedSmtp(...args);
  cleanup.push(() => started.close());
  return started;
}

function createPool(url: string, options: Partial<SmtpPoolOptions> = {}): SmtpPool {
  const created = new SmtpPool({ url, connections: 1, ...options });
  cleanup.push(() => created.close());
  return created;
}

function createMessage(to: string, over: Partial<SmtpMessage> = {}): SmtpMessage {
  const data = `Message-ID: <${to}>\r\nSubject: to ${to}\r\n\r\nHello\r\n`;
  return { id: to, from: 'bounces@example.com', to, data, ...over };
}

describe.each([
  ['with PIPELINING', true],
  ['by a server without PIPELINING, which disconnects clients that use it', false],
])('the SMTP client sends email %s', (_name, pipelining) => {
  it('once for each recipient, each with its own reply, also if some are refused', async () => {
    const server = await startSink({ pipelining });
    const smtp = createPool(server.url, { connections: 3 });
    const recipients = Array.from({ length: 200 }, (_, i) => {
      if (i % 10 === 3) return `reject550-5.1.1.${i}@example.org`;
      if (i % 10 === 6) return `defer450-4.2.1.${i}@example.org`;
      return `ok${i}@example.org`;
    });
    const results = await Promise.all(recipients.map((to) => smtp.send(createMessage(to))));

    results.forEach((result, i) => {
      const to = recipients[i] as string;
      if (to.startsWith('ok'))
        expect(result).toEqual({ outcome: 'accepted', reply: expect.stringMatching(/^2\.0\.0 Ok/) });
      else if (to.startsWith('reject'))
        expect(result).toMatchObject({ stage: 'rcpt', permanent: true, code: 550, enhanced: '5.1.1' });
      else expect(result).toMatchObject({ stage: 'rcpt', permanent: false, code: 450, enhanced: '4.2.1' });
    });
    const taken = server.perRecipient();
    expect([...taken.keys()].sort()).toEqual(recipients.filter((to) => to.startsWith('ok')).sort());
    expect(Math.max(...taken.values())).toBe(1);
    expect(server.counts.connections).toBeLessThanOrEqual(3);
  });

  it('with dots at line starts doubled, and with a lone CR as CRLF', async () => {
    const server = await startSink({ pipelining });
    const data = 'Subject: dots\r\n\r\n.\r\n..two\r\n.three\nbare\rends';
    await createPool(server.url).send(createMessage('ann@example.org', { data }));
    expect(server.bodies).toEqual(['Subject: dots\r\n\r\n..\r\n...two\r\n..three\r\nbare\r\nends\r\n']);
  });
});

describe('a message of the SMTP client', () => {
  it('can be a Buffer or a string', async () => {
    const server = await startSink();
    const smtp = createPool(server.url);
    const text = `Subject: x\r\n\r\n${'.line\r\n'.repeat(20_000)}`;
    for (const data of [text, Buffer.from(text)]) await smtp.send(createMessage('ann@example.org', { data }));
    expect(server.bodies[0]).toBe(server.bodies[1]);
    expect(server.bodies[0]).toContain('\r\n..line\r\n');
  });

  it.each([true, false])(
    'with megabytes is transferred completely and in order, with another message after it (PIPELINING: %s)',
    async (pipelining) => {
      const server = await startSink({ pipelining });
      const smtp = createPool(server.url);
      const large = Buffer.from('Subject: x\r\n\r\n'.concat(`${'x'.repeat(76)}\r\n`.repeat(60_000)), 'latin1');
      const data = [large, large, 'Subject: small\r\n\r\nx\r\n', large];
      const results = await Promise.all(
        data.map((one, n) => smtp.send(createMessage(`to${n}@example.org`, { data: one }))),
      );
      expect(results.map(({ outcome }) => outcome)).toEqual(data.map(() => 'accepted'));
      expect(server.messages.map(({ to }) => to)).toEqual(data.map((_, n) => `to${n}@example.org`));
      expect(server.bodies.map((body) => body.length)).toEqual([large.length, large.length, 21, large.length]);
      expect(server.bodies[3] === large.toString('latin1')).toBe(true);
      expect(server.counts.connections).toBe(1);
    },
  );

  it('is sent unchanged if it is canonical', async () => {
    const server = await startSink();
    const data = 'Subject: x\r\n\r\nready\r\n';
    await createPool(server.url).send(createMessage('ann@example.org', { data, canonical: true }));
    expect(server.bodies).toEqual([data]);
  });

  it('is sent with 8BITMIME and SIZE if the server offers them and they apply', async () => {
    const server = await startSink({ keywords: ['SIZE 1000'] });
    const smtp = createPool(server.url);
    await smtp.send(createMessage('ann@example.org', { data: Buffer.from('Subject: x\r\n\r\ncafé\r\n') }));
    expect(server.commands).toContain('MAIL FROM:<bounces@example.com> SIZE=21 BODY=8BITMIME');
  });

  it('is refused without sending it if it is larger than the server accepts', async () => {
    const server = await startSink({ keywords: ['SIZE 1000'] });
    const result = await createPool(server.url).send(createMessage('ann@example.org', { data: 'x'.repeat(1001) }));
    expect(result).toMatchObject({ outcome: 'refused', stage: 'mail', permanent: true, code: 552, enhanced: '5.3.4' });
    expect(server.commands.filter((line) => line.startsWith('MAIL'))).toEqual([]);
  });

  it('is sent with SMTPUTF8 only for a local part that needs it', async () => {
    const server = await startSink();
    const smtp = createPool(server.url);
    const data = 'Subject: x\r\n\r\nHello\r\n';
    const results = await Promise.all(
      ['jörg@example.org', 'ann@bücher.example', 'ann@example.org'].map((to) => smtp.send(createMessage(to, { data }))),
    );
    expect(results.map((result) => result.outcome)).toEqual(['accepted', 'accepted', 'accepted']);
    const utf8 = Buffer.from('jörg@example.org').toString('latin1');
    expect(server.commands.filter((line) => /^(MAIL|RCPT)/.test(line))).toEqual([
      'MAIL FROM:<bounces@example.com> SMTPUTF8',
      `RCPT TO:<${utf8}>`,
      'MAIL FROM:<bounces@example.com>',
      'RCPT TO:<ann@xn--bcher-kva.example>',
      'MAIL FROM:<bounces@example.com>',
      'RCPT TO:<ann@example.org>',
    ]);
  });

  it('is refused if its local part needs SMTPUTF8 and the server does not offer it', async () => {
    const server = await startScripted(createAcceptingScript());
    const result = await createPool(server.url).send(createMessage('jörg@example.org'));
    expect(result).toMatchObject({ outcome: 'refused', permanent: true, enhanced: '5.6.7' });
  });

  it.each(['a@b.c>\r\nRCPT TO:<eve@b.c', 'a b@c.d', 'a@b.c\n', '<a@b.c>', 'nobody'])(
    'to %j cannot inject SMTP commands',
    async (to) => {
      const server = await startSink();
      const result = await createPool(server.url).send(createMessage(to));
      expect(result).toMatchObject({ outcome: 'refused', permanent: true, code: 553 });
      expect(server.commands.filter((line) => line.startsWith('RCPT'))).toEqual([]);
    },
  );
});

describe('a refusal of an SMTP server', () => {
  it('keeps the text of a reply of several lines', async () => {
    const server = await startScripted(
      createAcceptingScript({ RCPT: '550-5.1.1 No such user,\r\n550 5.1.1 sorry', DATA: '503 no' }),
    );
    const result = await createPool(server.url).send(createMessage('ann@example.org'));
    expect(result).toEqual({
      outcome: 'refused',
      stage: 'rcpt',
      permanent: true,
      code: 550,
      enhanced: '5.1.1',
      text: '5.1.1 No such user,\n5.1.1 sorry',
    });
  });

  it('a refusal of the sender is reported as such, although RCPT and DATA fail after it', async () => {
    const server = await startScripted(
      createAcceptingScript({ MAIL: '550 5.7.1 not you', RCPT: '503 no', DATA: '503 no' }),
    );
    expect(await createPool(server.url).send(createMessage('ann@example.org'))).toMatchObject({
      stage: 'mail',
      enhanced: '5.7.1',
    });
  });

  it('a refusal of the whole message does not close the connection', async () => {
    const server = await startSink({ replyToMessage: (to) => (to.startsWith('bad') ? '554 5.7.1 spam' : null) });
    const smtp = createPool(server.url);
    const results = await Promise.all(
      ['bad@example.org', 'good@example.org'].map((to) => smtp.send(createMessage(to))),
    );
    expect(results).toMatchObject([{ stage: 'message', permanent: true, code: 554 }, { outcome: 'accepted' }]);
    expect(server.counts.connections).toBe(1);
  });

  it('a refusal of DATA is followed by RSET', async () => {
    const server = await startSink({ replyToData: (to) => (to.startsWith('bad') ? '451 4.3.0 later' : null) });
    const smtp = createPool(server.url);
    const results = await Promise.all(
      ['bad@example.org', 'good@example.org'].map((to) => smtp.send(createMessage(to))),
    );
    expect(results).toMatchObject([{ stage: 'data', permanent: false, code: 451 }, { outcome: 'accepted' }]);
    expect(server.commands).toContain('RSET');
  });

  it('a refusal of all recipients, followed by a 354, ends the empty message, and the next message arrives', async () => {
    let bodies = 0;
    const server = await startScripted((line, socket, n) => {
      if (line.includes('bad@')) return '550 5.1.1 no';
      if (line === '.') return ++bodies === 1 ? '554 5.5.1 no valid recipients' : '250 Ok';
      return createAcceptingScript()(line, socket, n);
    });
    const smtp = createPool(server.url);
    const results = await Promise.all(
      ['bad@example.org', 'good@example.org'].map((to) => smtp.send(createMessage(to))),
    );
    expect(results).toMatchObject([{ stage: 'rcpt', code: 550 }, { outcome: 'accepted' }]);
    expect(server.connections).toBe(1);
  });
});

describe('the pool of SMTP connections', () => {
  it('opens no more connections than allowed, and closes idle ones', async () => {
    const server = await startSink();
    const smtp = createPool(server.url, { connections: 4, timeouts: { idleMs: 40 } });
    await Promise.all(Array.from({ length: 100 }, (_, i) => smtp.send(createMessage(`to${i}@example.org`))));
    expect(server.counts.connections).toBeLessThanOrEqual(4);
    await expect.poll(() => server.commands.filter((line) => line === 'QUIT').length).toBe(server.counts.connections);
    expect(await smtp.send(createMessage('later@example.org'))).toMatchObject({ outcome: 'accepted' });
  });

  it('closes a connection after the number of messages that the server allows', async () => {
    const server = await startSink();
    const smtp = createPool(server.url, { maxMessages: 5 });
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, i) => smtp.send(createMessage(`to${i}@example.org`))),
    );
    expect(results.every((result) => result.outcome === 'accepted')).toBe(true);
    expect(server.counts.connections).toBe(3);
    expect(smtp.counts.lost).toBe(0);
  });

  it('sends 2,000 messages that are submitted from callbacks of other messages', async () => {
    const server = await startSink({ keepBodies: false });
    const smtp = createPool(server.url, { connections: 5 });
    const results: SmtpResult[] = [];
    await new Promise<void>((resolve) => {
      let next = 0;
      const submitNext = (): void => {
        if (next === 2000) return;
        smtp.submit(createMessage(`to${next++}@example.org`), (result) => {
          results.push(result);
          if (results.length === 2000) resolve();
          submitNext();
        });
      };
      for (let i = 0; i < 50; i++) submitNext();
    });
    expect(server.perRecipient().size).toBe(2000);
    expect(server.counts.messages).toBe(2000);
  });

  it('reports queued messages as unsent when it closes, and waits for messages on the wire', async () => {
    const server = await startSink({ latencyMs: 20 });
    const smtp = createPool(server.url);
    const first = smtp.send(createMessage('first@example.org'));
    await expect.poll(() => server.commands).toContain('DATA');
    const second = smtp.send(createMessage('second@example.org'));
    const third = smtp.send(createMessage('third@example.org'));
    await smtp.close();
    expect((await Promise.all([first, second, third])).map((result) => result.outcome)).toEqual([
      'accepted',
      expect.stringMatching(/accepted|unsent/),
      'unsent',
    ]);
    expect(await smtp.send(createMessage('late@example.org'))).toMatchObject({ outcome: 'unsent' });
  });

  it('does not send a message that was aborted while it was queued', async () => {
    const server = await startSink({ latencyMs: 20 });
    const smtp = createPool(server.url);
    const first = smtp.send(createMessage('first@example.org'));
    const abort = new AbortController();
    const second = smtp.send(createMessage('second@example.org'), abort.signal);
    abort.abort();
    expect(await second).toEqual({ outcome: 'unsent', error: 'aborted' });
    expect(await first).toMatchObject({ outcome: 'accepted' });
    expect(server.messages.map(({ to }) => to)).toEqual(['first@example.org']);
  });
});
