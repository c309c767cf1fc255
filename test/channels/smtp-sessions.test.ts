import { connect, type Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInboundListener } from '../../channels/inbound/listener.ts';
import { type RelayMessage, RelayRefusal, startRelayListener } from '../../channels/relay/listener.ts';
import { type Certificate, createCertificate } from '../support/certificate.ts';
import { until } from '../support/until.ts';

const GOOD = Buffer.from('\0apikey\0good').toString('base64');
const BAD = Buffer.from('\0apikey\0bad').toString('base64');
type Kind = 'inbound' | 'relay';
const KINDS: Kind[] = ['inbound', 'relay'];
let certificate: Certificate;
beforeAll(async () => {
  certificate = await createCertificate();
});

/** Starts a listener that accepts everything except email to `nobody@…` and the key `bad`. */
function startListener(kind: Kind, tls: Certificate | undefined) {
  const base = { host: '127.0.0.1', port: 0, name: 'mx.test', tls, onError: () => {} };
  if (kind === 'inbound') {
    const handler = { accepts: async (to: string) => !to.startsWith('nobody@'), take: async () => {} };
    return startInboundListener({ ...base, handler });
  }
  const handler = {
    signIn: async (key: string) => {
      if (key !== 'good') throw new RelayRefusal(535, '5.7.8 No such key');
    },
    checkRecipient: (to: string) => {
      if (to.startsWith('nobody@')) throw new RelayRefusal(550, '5.1.1 Nobody');
    },
    take: async (_: RelayMessage) => '2.0.0 Accepted',
  };
  return startRelayListener({ ...base, allowPlain: false, handler });
}

/** Starts a listener for the tests of a block in `beforeAll`. `port` returns its port. */
function useListener(kind: Kind, tls: () => Certificate | undefined): { port(): number } {
  let listener: { port: number; close(): Promise<void> };
  beforeAll(async () => {
    listener = await startListener(kind, tls());
  });
  afterAll(() => listener.close());
  return { port: () => listener.port };
}

interface Session {
  /**
   * Returns the code of the reply to a line, or of the greeting if no line is given. Returns `closed` if the server
   * disconnected.
   */
  say(line?: string): Promise<string>;
  secure(): Promise<void>;
  end(): Promise<void>;
}

function openSession(port: number, localAddress = '127.0.0.1'): Session {
  let socket: Socket = connect({ port, host: '127.0.0.1', localAddress });
  let [text, closed] = ['', false];
  let onReply = () => {};
  const listenTo = (to: Socket) => {
    to.on('data', (chunk) => {
      text += chunk.toString('latin1');
      onReply();
    });
    to.on('close', () => {
      closed = true;
      onReply();
    });
    to.on('error', () => {});
  };
  listenTo(socket);
  const readReply = async () => {
    for (;;) {
      const whole = /^(?:\d{3}-[^\n]*\n)*(\d{3})(?: [^\n]*)?\r\n/.exec(text);
      if (whole) {
        text = text.slice(whole[0].length);
        return whole[1] ?? '';
      }
      if (closed) return 'closed';
      await new Promise<void>((resolve) => {
        onReply = resolve;
      });
    }
  };
  return {
    say: async (line) => {
      if (line !== undefined) socket.write(`${line}\r\n`);
      return readReply();
    },
    secure: async () => {
      socket.removeAllListeners('data');
      const secured = startTls({ socket, rejectUnauthorized: false });
      await new Promise<void>((resolve, reject) => secured.once('secureConnect', resolve).once('error', reject));
      listenTo(secured);
      socket = secured;
    },
    end: async () => {
      socket.destroy();
      while (!closed) {
        await new Promise<void>((resolve) => {
          onReply = resolve;
        });
      }
    },
  };
}

describe.each([
  ['inbound' as const, 40],
  ['relay' as const, 200],
])('concurrent sessions of the %s listener', (kind, places) => {
  const listener = useListener(kind, () => undefined);
  const open: Session[] = [];
  afterAll(() => Promise.all(open.map((session) => session.end())));
  const connectFrom = async (address: string) => {
    const session = openSession(listener.port(), address);
    const greeting = await session.say();
    if (greeting === '220') open.push(session);
    return greeting;
  };

  it('are limited to ten per address; when a session ends, another one can start', async () => {
    const greetings = [];
    for (let n = 0; n < 11; n += 1) greetings.push(await connectFrom('127.0.0.2'));
    expect(greetings).toEqual([...Array(10).fill('220'), '421']);
    const refused = openSession(listener.port(), '127.0.0.2');
    expect([await refused.say(), await refused.say()]).toEqual(['421', 'closed']);
    await open.pop()?.end();
    await until(async () => (await connectFrom('127.0.0.2')) === '220', 'the slot');
  });

  it('reserve the last 10 % for addresses without a session', async () => {
    const shared = places * 0.9;
    for (let n = 3; open.length < shared; n += 1) {
      const some = Array.from({ length: Math.min(10, shared - open.length) }, () => connectFrom(`127.0.0.${n}`));
      expect(new Set(await Promise.all(some))).toEqual(new Set(['220']));
    }
    expect(await connectFrom('127.0.0.2')).toBe('421');
    const last = `127.0.0.${1 + Math.ceil(shared / 10)}`;
    expect(await connectFrom(last)).toBe('421');
    for (let n = 0; n < places / 10; n += 1) expect(await connectFrom(`127.0.1.${n + 1}`)).toBe('220');
    expect(await connectFrom('127.0.2.1')).toBe('421');
    expect(open).toHaveLength(places);
  });

  it('do not include refused clients, however many they are', async () => {
    await open.pop()?.end();
    const others = Array.from({ length: places * 2 }, () => openSession(listener.port(), '127.0.0.2'));
    expect(new Set(await Promise.all(others.map((other) => other.say())))).toEqual(new Set(['421']));
    await until(async () => (await connectFrom('127.0.3.1')) === '220', 'the slot');
  });
});

/** Kinds of clients, each with the commands that it sends first. Each client has its own session. */
const ACTORS = {
  'before EHLO': [],
  'after EHLO': ['EHLO me'],
  'signed in': ['EHLO me', `AUTH PLAIN ${GOOD}`],
  'over TLS': ['EHLO me', 'STARTTLS', 'EHLO me'],
  'over TLS, signed in': ['EHLO me', 'STARTTLS', 'EHLO me', `AUTH PLAIN ${GOOD}`],
  'after MAIL': ['EHLO me', 'STARTTLS', 'EHLO me', `AUTH PLAIN ${GOOD}`, 'MAIL FROM:<a@b.test>'],
  'after RCPT': ['EHLO me', 'STARTTLS', 'EHLO me', `AUTH PLAIN ${GOOD}`, 'MAIL FROM:<a@b.test>', 'RCPT TO:<c@d.test>'],
} as const;
const COMMANDS = [
  ...['HELO me', 'EHLO me', 'EHLO', 'LHLO me', 'NOOP', 'RSET', 'HELP', 'VRFY ada', 'EXPN list', 'QUIT'],
  ...[
    'STARTTLS',
    `AUTH PLAIN ${GOOD}`,
    `AUTH PLAIN ${BAD}`,
    'AUTH CRAM-MD5',
    'AUTH LOGIN',
    'XCLIENT ADDR=1.2.3.4',
    'XFORWARD ADDR=1.2.3.4',
  ],
  ...[
    'MAIL FROM:<a@b.test>',
    'MAIL FROM:<>',
    'MAIL FROM:a b',
    'RCPT TO:<c@d.test>',
    'RCPT TO:<nobody@d.test>',
    'DATA',
    'BDAT 5',
  ],
  ...['ETRN x', 'TURN', 'FOO'],
];

describe.each(KINDS)('SMTP commands of the %s listener', (kind) => {
  const listener = useListener(kind, () => certificate);
  let sessions = 0;
  async function readReplyTo(before: readonly string[], command: string): Promise<string> {
    sessions += 1;
    // Each client has its own IP address, so that no session waits for another to end.
    const session = openSession(listener.port(), `127.1.${sessions >> 8}.${sessions & 255}`);
    await session.say();
    for (const line of before) {
      const code = await session.say(line);
      if (line === 'STARTTLS') {
        expect(code).toBe('220');
        await session.secure();
      }
    }
    const code = await session.say(command);
    await session.end();
    return code;
  }

  it('get the reply in the table, for each kind of client', async () => {
    const rows = [];
    for (const command of COMMANDS) {
      const codes = await Promise.all(Object.values(ACTORS).map((before) => readReplyTo(before, command)));
      rows.push(`${command.replace(GOOD, 'good').replace(BAD, 'bad').padEnd(24)} ${codes.join(' ')}`);
    }
    expect(`\n${rows.join('\n')}\n`).toBe(getExpectedReplies(kind));
  });
});

/** Parameters of MAIL, with the reply codes of the inbound listener and of the relay. */
const MAIL_PARAMETERS: [parameters: string, inbound: string, relay: string][] = [
  ['SIZE=3 BODY=8BITMIME', '250', '250'],
  ['body=7bit', '250', '250'],
  ['AUTH=<>', '555', '250'],
  ['AUTH=e+3Dmc2@example.com', '555', '250'],
  ['SMTPUTF8', '250', '555'],
  ['RET=HDRS', '555', '555'],
  ['SIZE=3 ENVID=QQ314159', '555', '555'],
  ['REQUIRETLS', '555', '555'],
  ['MT-PRIORITY=3', '555', '555'],
  ['X-Anything', '555', '555'],
];
const RCPT_PARAMETERS = ['NOTIFY=NEVER', 'ORCPT=rfc822;c@d.test', 'SIZE=3', 'FOO=bar', 'BAR'];

describe.each(KINDS)('parameters of MAIL and RCPT at the %s listener', (kind) => {
  const listener = useListener(kind, () => certificate);

  it('are accepted if EHLO announces their extension, and otherwise refused with 555', async () => {
    const session = openSession(listener.port());
    await session.say();
    await session.say('EHLO me');
    await session.say('STARTTLS');
    await session.secure();
    for (const line of ['EHLO me', `AUTH PLAIN ${GOOD}`]) await session.say(line);
    const replies = [];
    for (const [parameters] of MAIL_PARAMETERS) {
      replies.push([parameters, await session.say(`MAIL FROM:<a@b.test> ${parameters}`)]);
      await session.say('RSET');
    }
    expect(replies).toEqual(MAIL_PARAMETERS.map(([parameters, ...codes]) => [parameters, codes[KINDS.indexOf(kind)]]));
    expect(await session.say('MAIL FROM:<a@b.test>')).toBe('250');
    for (const parameter of RCPT_PARAMETERS) {
      expect([parameter, await session.say(`RCPT TO:<c@d.test> ${parameter}`)]).toEqual([parameter, '555']);
    }
    // A refused recipient does not affect the rest of the transaction.
    expect(await session.say('DATA')).toBe('503');
    expect(await session.say('RCPT TO:<c@d.test>')).toBe('250');
    await session.end();
  });
});

/**
 * The replies to the clients, in the order of `ACTORS`. A row with two halves has the replies of the inbound listener,
 * then of the relay. Over the network without TLS the relay accepts no password. These clients use loopback, where it
 * does.
 */
const REPLIES = `
HELO me                  250 250 250 250 250 250 250
EHLO me                  250 250 250 250 250 250 250
EHLO                     501 501 501 501 501 501 501
LHLO me                  500 500 500 500 500 500 500
NOOP                     250 250 250 250 250 250 250
RSET                     250 250 250 250 250 250 250
HELP                     214 214 214 214 214 214 214
VRFY ada                 252 252 252 252 252 252 252
EXPN list                500 500 500 500 500 500 500
QUIT                     221 221 221 221 221 221 221
STARTTLS                 220 220 220 503 503 503 503
AUTH PLAIN good          500 500 500 500 500 500 500 | 503 235 503 235 503 503 503
AUTH PLAIN bad           500 500 500 500 500 500 500 | 503 535 503 535 503 503 503
AUTH CRAM-MD5            500 500 500 500 500 500 500 | 503 504 503 504 503 503 503
AUTH LOGIN               500 500 500 500 500 500 500 | 503 334 503 334 503 503 503
XCLIENT ADDR=1.2.3.4     550 550 550 550 550 550 550
XFORWARD ADDR=1.2.3.4    550 550 550 550 550 550 550
MAIL FROM:<a@b.test>     503 250 250 250 250 503 503 | 503 530 250 530 250 503 503
MAIL FROM:<>             503 250 250 250 250 503 503 | 503 530 250 530 250 503 503
MAIL FROM:a b            503 501 501 501 501 501 501
RCPT TO:<c@d.test>       503 503 503 503 503 250 250
RCPT TO:<nobody@d.test>  503 503 503 503 503 550 550
DATA                     503 503 503 503 503 503 354
BDAT 5                   500 500 500 500 500 500 500
ETRN x                   500 500 500 500 500 500 500
TURN                     500 500 500 500 500 500 500
FOO                      500 500 500 500 500 500 500
`;

/** Returns the table of one listener. */
function getExpectedReplies(kind: Kind): string {
  return REPLIES.replace(/^(.{25})(.*) \| (.*)$/gm, kind === 'inbound' ? '$1$2' : '$1$3');
}
