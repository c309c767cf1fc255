import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PipeliningDoubts } from '../../channels/email/smtp/pipelining-doubts.ts';
import { SmtpPool, type SmtpPoolOptions } from '../../channels/email/smtp/pool.ts';
import type { SmtpMessage } from '../../channels/email/smtp/types.ts';
import { createAcceptingScript, type Script, startScriptedSmtp } from '../support/smtp/scripted-smtp.ts';
import { startSmtpSink } from '../support/smtp/smtp-sink.ts';

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});

async function openScripted(script: Script, greeting?: string | null) {
  const server = await startScriptedSmtp(script, greeting);
  cleanup.push(() => server.close());
  return server;
}

function createPool(url: string, options: Partial<SmtpPoolOptions> = {}): SmtpPool {
  const created = new SmtpPool({ url, connections: 1, ...options });
  cleanup.push(() => created.close(0));
  return created;
}

function createMessage(to: string): SmtpMessage {
  return { id: to, from: 'bounces@example.com', to, data: `Message-ID: <${to}>\r\n\r\nHello\r\n` };
}

const quick = { connectMs: 60, greetingMs: 60, commandMs: 60, messageMs: 60, idleMs: 5_000 };

describe('a lost SMTP connection', () => {
  it('before the message is sent makes the client use another connection', async () => {
    const server = await openScripted((line, socket, n) => {
      if (line.startsWith('RCPT') && n === 1) socket.destroy();
      return createAcceptingScript()(line, socket, n);
    });
    const smtp = createPool(server.url);
    expect(await smtp.send(createMessage('ann@example.org'))).toMatchObject({ outcome: 'accepted' });
    expect(smtp.counts).toMatchObject({ opened: 2, lost: 1, returned: 1 });
  });

  it('on three connections in a row makes the message unsent', async () => {
    const server = await openScripted((line, socket, n) => {
      if (line.startsWith('RCPT')) socket.destroy();
      return createAcceptingScript()(line, socket, n);
    });
    const result = await createPool(server.url).send(createMessage('poison@example.org'));
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringMatching(/closed|ECONNRESET/) });
    expect(server.connections).toBe(3);
  });

  it('after the message was sent makes its result in doubt, and it is not sent again', async () => {
    const server = await openScripted((line, socket, n) => {
      if (line === '.') {
        socket.destroy();
        return null;
      }
      return createAcceptingScript()(line, socket, n);
    });
    const result = await createPool(server.url).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'in_doubt' });
    expect(server.lines.filter((line) => line === '.')).toHaveLength(1);
  });

  it('leaves one message of each connection in doubt; all others are delivered exactly once', async () => {
    const sink = await startSmtpSink({
      replyToMessage: (_to, n) => (n % 50 === 0 && dropped < 4 ? dropConnection() : null),
    });
    cleanup.push(() => sink.close());
    let dropped = 0;
    const dropConnection = (): 'hangup' => {
      dropped += 1;
      return 'hangup';
    };
    const smtp = createPool(sink.url, { connections: 2 });
    const recipients = Array.from({ length: 300 }, (_, i) => `to${i}@example.org`);
    const results = await Promise.all(recipients.map((to) => smtp.send(createMessage(to))));
    const accepted = recipients.filter((_, i) => results[i]?.outcome === 'accepted');
    expect(results.filter((result) => result.outcome === 'in_doubt')).toHaveLength(4);
    expect(accepted).toHaveLength(296);
    expect([...sink.perRecipient().keys()].sort()).toEqual(accepted.sort());
    expect(sink.counts.messages).toBe(296);
  });

  it('an idle connection that is lost loses no message: the next message opens another connection', async () => {
    const sink = await startSmtpSink();
    cleanup.push(() => sink.close());
    const smtp = createPool(sink.url);
    await smtp.send(createMessage('one@example.org'));
    sink.dropAll();
    expect(await smtp.send(createMessage('two@example.org'))).toMatchObject({ outcome: 'accepted' });
    expect(sink.counts.messages).toBe(2);
  });
});

describe('the SMTP reply 421', () => {
  it('to a recipient is retried on two more connections, and is then a temporary refusal', async () => {
    const server = await openScripted((line, socket, n) => {
      if (!line.startsWith('RCPT')) return createAcceptingScript()(line, socket, n);
      socket.end('421 4.7.0 too many errors\r\n');
      return null;
    });
    const result = await createPool(server.url).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'refused', stage: 'rcpt', permanent: false, code: 421, enhanced: '4.7.0' });
    expect(server.connections).toBe(3);
  });

  it('to a message is a temporary refusal, and the next message uses another connection', async () => {
    const server = await openScripted((line, socket, n) => {
      if (line !== '.' || n > 1) return createAcceptingScript()(line, socket, n);
      socket.end('421 4.3.2 shutting down\r\n');
      return null;
    });
    const smtp = createPool(server.url);
    const results = await Promise.all(['one@example.org', 'two@example.org'].map((to) => smtp.send(createMessage(to))));
    expect(results).toMatchObject([
      { outcome: 'refused', stage: 'message', permanent: false, code: 421 },
      { outcome: 'accepted' },
    ]);
  });

  it('after the allowed number of messages per connection loses no message', async () => {
    let messages = 0;
    const server = await openScripted((line, socket, n) => {
      if (line === '.') messages += 1;
      if (line.startsWith('MAIL') && messages > 0 && messages % 3 === 0 && n * 3 <= messages) {
        socket.end('421 4.7.0 too many messages\r\n');
        return null;
      }
      return createAcceptingScript()(line, socket, n);
    });
    const smtp = createPool(server.url);
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, i) => smtp.send(createMessage(`to${i}@example.org`))),
    );
    expect(results.map((result) => result.outcome)).toEqual(Array(9).fill('accepted'));
    expect(messages).toBe(9);
  });

  it('to every message causes no busy loop', async () => {
    const server = await openScripted((line, socket, n) => {
      if (line !== '.') return createAcceptingScript()(line, socket, n);
      socket.end('421 4.3.2 shutting down\r\n');
      return null;
    });
    const smtp = createPool(server.url);
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 5 }, (_, i) => smtp.send(createMessage(`to${i}@example.org`))));
    // The shortest pause before a new connection is 75 ms.
    expect(performance.now() - startedAt).toBeGreaterThan(4 * 75);
    expect(server.connections).toBe(5);
  });

  it('on every connection causes no busy loop', async () => {
    const server = await openScripted(createAcceptingScript(), '421 4.3.2 too many connections');
    const smtp = createPool(server.url, { connections: 20 });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => smtp.send(createMessage(`to${i}@example.org`))),
    );
    expect(results[0]).toMatchObject({ outcome: 'refused', stage: 'connect', permanent: false, code: 421 });
    expect(results).toHaveLength(100);
    expect(server.connections).toBeLessThanOrEqual(25);
  });
});

describe('an SMTP server that cannot be reached', () => {
  it('makes messages unsent after three attempts', async () => {
    const free = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => free.once('listening', resolve));
    const { port } = free.address() as net.AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const smtp = createPool(`smtp://127.0.0.1:${port}`);
    expect(await smtp.send(createMessage('ann@example.org'))).toMatchObject({
      outcome: 'unsent',
      error: expect.stringContaining('ECONNREFUSED'),
    });
    expect(smtp.counts.openFailures).toBe(3);
  });

  it('is used again automatically when it is back', async () => {
    const first = await startSmtpSink();
    const { port, url } = first;
    await first.close();
    const smtp = createPool(url);
    const waiting = smtp.send(createMessage('ann@example.org'));
    await expect.poll(() => smtp.counts.openFailures).toBeGreaterThan(0);
    const second = await startSmtpSink({ port });
    cleanup.push(() => second.close());
    expect(await waiting).toMatchObject({ outcome: 'accepted' });
  });

  it('because of its greeting is reported with the code of the greeting', async () => {
    const server = await openScripted(createAcceptingScript(), '554 5.7.1 blocked using zen.spamhaus.org');
    const result = await createPool(server.url).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({
      outcome: 'refused',
      stage: 'connect',
      permanent: false,
      code: 554,
      enhanced: '5.7.1',
    });
  });

  it('because it does not speak SMTP makes messages unsent', async () => {
    const server = await openScripted(createAcceptingScript(), 'HTTP/1.1 400 Bad Request');
    const result = await createPool(server.url).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringContaining('does not speak SMTP') });
  });
});

describe('an invalid SMTP reply', () => {
  it('to the message makes its result in doubt', async () => {
    const server = await openScripted(createAcceptingScript({ '.': '354 what?' }));
    expect(await createPool(server.url).send(createMessage('ann@example.org'))).toMatchObject({ outcome: 'in_doubt' });
  });

  it('to DATA makes the message unsent', async () => {
    const server = await openScripted(createAcceptingScript({ DATA: '250 Ok' }));
    expect(await createPool(server.url).send(createMessage('ann@example.org'))).toMatchObject({ outcome: 'unsent' });
  });

  it('a reply that belongs to no command is not taken as the refusal of the next message', async () => {
    const server = await openScripted((line, socket, n) => {
      const reply = createAcceptingScript()(line, socket, n);
      return line === '.' ? `${reply}\r\n250 again` : reply;
    });
    const smtp = createPool(server.url);
    const results = await Promise.all(['one@example.org', 'two@example.org'].map((to) => smtp.send(createMessage(to))));
    expect(results[0]).toMatchObject({ outcome: 'accepted' });
    expect(results[1]?.outcome).not.toBe('refused');
  });
});

describe('an SMTP server that stops replying', () => {
  it('before its greeting makes messages unsent', async () => {
    const server = await openScripted(createAcceptingScript(), null);
    const result = await createPool(server.url, { timeouts: quick }).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'unsent', error: 'timeout: the greeting did not come in time' });
  });

  it('after 421 to EHLO is reported with the text of the 421, and gets no HELO', async () => {
    const server = await openScripted((line) =>
      line.startsWith('EHLO') ? '421 4.3.2 no literal, please' : '250 fine',
    );
    const result = await createPool(server.url).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'refused', stage: 'ehlo', code: 421, text: '4.3.2 no literal, please' });
    expect(server.lines.filter((line) => line.startsWith('HELO'))).toEqual([]);
  });

  it('at EHLO makes messages unsent', async () => {
    const server = await openScripted(createAcceptingScript({ EHLO: null }));
    const result = await createPool(server.url, { timeouts: quick }).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringContaining('EHLO') });
  });

  it('at RCPT makes messages unsent', async () => {
    const server = await openScripted(createAcceptingScript({ RCPT: null, DATA: null }));
    const result = await createPool(server.url, { timeouts: quick }).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'unsent', error: expect.stringContaining('timeout') });
    expect(server.connections).toBe(3);
  });

  it('after the message makes its result in doubt', async () => {
    const server = await openScripted(createAcceptingScript({ '.': null }));
    const result = await createPool(server.url, { timeouts: quick }).send(createMessage('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'in_doubt', error: expect.stringContaining('timeout') });
    expect(server.connections).toBe(1);
  });
});

describe('closing the pool of SMTP connections', () => {
  it('does not wait for a server that does not respond', async () => {
    const server = await openScripted(createAcceptingScript(), null);
    const smtp = createPool(server.url);
    const result = smtp.send(createMessage('ann@example.org'));
    await expect.poll(() => server.connections).toBe(1);
    await smtp.close();
    expect(await result).toMatchObject({ outcome: 'unsent' });
  });

  it('stops waiting for a reply after the given time', async () => {
    const server = await openScripted(createAcceptingScript({ '.': null }));
    const smtp = createPool(server.url);
    const result = smtp.send(createMessage('ann@example.org'));
    await expect.poll(() => server.lines).toContain('.');
    await smtp.close(20);
    expect(await result).toMatchObject({ outcome: 'in_doubt', error: 'the pool was closed' });
  });
});

describe('an SMTP server that replies to pipelined commands in the wrong order', () => {
  /** Replies to several pipelined commands with the 354 first. Its replies to single commands are correct. */
  const replyOutOfOrder: () => Script = () => {
    let grouped = false;
    return (line, socket, n) => {
      if (line.startsWith('MAIL')) {
        grouped = false;
        setImmediate(() => !grouped && socket.write('250 2.1.0 Ok\r\n'));
        return null;
      }
      if (line.startsWith('RCPT')) {
        // The commands of one packet arrive together, before the server has replied to MAIL.
        const inGroup = socket.bytesWritten === bytesBefore.get(socket);
        grouped = inGroup;
        return inGroup ? null : createAcceptingScript()(line, socket, n);
      }
      if (line === 'DATA' && grouped) return '354 go on\r\n250 2.1.0 Ok\r\n250 2.1.5 Ok';
      return createAcceptingScript()(line, socket, n);
    };
  };
  const bytesBefore = new WeakMap<net.Socket, number>();
  const recordBytesAtMail =
    (script: Script): Script =>
    (line, socket, n) => {
      if (line.startsWith('MAIL')) bytesBefore.set(socket, socket.bytesWritten);
      return script(line, socket, n);
    };

  it('gets no pipelined commands from then on, from any pool, and the problem is logged once', async () => {
    const server = await openScripted(recordBytesAtMail(replyOutOfOrder()));
    const notices: string[] = [];
    const options = { onNotice: (notice: string) => void notices.push(notice) };
    const smtp = createPool(server.url, options);
    const sent = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((to) => smtp.send(createMessage(`${to}@example.org`))),
    );
    expect(sent.map(({ outcome }) => outcome)).toEqual(Array(5).fill('accepted'));
    expect(server.connections).toBe(2);
    expect(await createPool(server.url, options).send(createMessage('f@example.org'))).toMatchObject({
      outcome: 'accepted',
    });
    expect(server.connections).toBe(3);
    expect(notices).toEqual([expect.stringMatching(/127\.0\.0\.1:\d+ .*pipelining/)]);
  });

  it('gets pipelined commands again after an hour', async () => {
    let now = 0;
    const doubts = new PipeliningDoubts(() => now);
    expect(doubts.add('mx.example.org:25')).toBe(true);
    expect(doubts.add('mx.example.org:25')).toBe(false);
    now = 3_599_999;
    expect([doubts.has('mx.example.org:25'), doubts.has('other.example.org:25')]).toEqual([true, false]);
    now = 3_600_000;
    expect(doubts.has('mx.example.org:25')).toBe(false);
    expect(doubts.add('mx.example.org:25')).toBe(true);
  });
});
