import { describe, expect, it } from 'vitest';
import { readThreadCpuMs } from '../../rules/time-limit.ts';
import { readMessage } from './read-message.ts';

const DAEMON = 'From: MAILER-DAEMON@mx.example.org\nSubject: failure notice';
const EXIM = 'From: Mail Delivery System <Mailer-Daemon@mx.example.org>\nX-Failed-Recipients: ann@example.org';
const ADDRESS = 'ann@example.org';

/**
 * Reads a bounce without a machine-readable report, which was sent to the return path of an email to Ann. Returns the
 * reason that the bounce gives for Ann's address.
 */
async function readBounce(headers: string, body: string, { sender = '', address = ADDRESS } = {}) {
  const raw = Buffer.from(`${headers}\n\n${body}\n`.replaceAll('\n', '\r\n'));
  const read = await readMessage(raw, { at: new Date(0), sender, isReturned: true });
  const report = read.kind === 'status' ? read.of(address) : read;
  if (report.kind !== 'report' || report.feedback.kind !== 'bounce') return report.kind;
  const { refusal } = report.feedback;
  return 'why' in refusal ? refusal.why : refusal.about;
}

describe('a bounce without a machine-readable report', () => {
  it.each([
    ['dead_mailbox', EXIM, `  ${ADDRESS}\n    Unrouteable address`],
    ['dead_mailbox', EXIM, `  ${ADDRESS}\n    Unknown user`],
    ['mailbox_for_now', EXIM, `  ${ADDRESS}\n    mailbox is full:\n    retry timeout exceeded`],
    ['unknown', EXIM, `  ${ADDRESS}\n    all relevant MX records point to non-existent hosts`],
    ['message', EXIM, `  ${ADDRESS}\n    SMTP error after end of data:\n    550 5.7.1 Message rejected as spam`],
    ['dead_mailbox', DAEMON, `<${ADDRESS}>: unknown user: "ann"`],
    ['routing', DAEMON, `<${ADDRESS}>: connect to mx.example.org[192.0.2.1]:25: Connection timed out`],
    [
      'dead_mailbox',
      DAEMON,
      `was not delivered to:\n\n  ${ADDRESS}\n\nbecause:\n\n  User ann not listed in Domino Directory`,
    ],
    ['dead_mailbox', DAEMON, `undeliverable to the following:\n\t${ADDRESS} (user not found)`],
    ['dead_mailbox', DAEMON, `<${ADDRESS}>:\nThis address no longer accepts mail.`],
    ['mailbox_for_now', DAEMON, `User mailbox exceeds allowed size: ${ADDRESS}`],
    ['routing', DAEMON, `<${ADDRESS}>:\nI'm not going to try again; it has been in the queue too long. (#4.4.7)`],
    ['dead_mailbox', DAEMON, `<${ADDRESS}>:\n    mx.example.org [192.0.2.3]:\n<<< 550 User unknown`],
    ['dead_mailbox', DAEMON, `<${ADDRESS}>:\n554: delivery error: this user doesn't have an account`],
    [
      'dead_mailbox',
      DAEMON,
      `<${ADDRESS}>: host mx.example.org said: 550\n    Requested action not taken: mailbox unavailable`,
    ],
    [
      'dead_mailbox',
      DAEMON,
      `<${ADDRESS}>: host mx.example.org said: 550\n    5.1.1 <${ADDRESS}>: Recipient address rejected: Access denied`,
    ],
    [
      'policy',
      DAEMON,
      `<${ADDRESS}>: host mx.example.org said: 550 Mail from\n    192.0.2.1 blocked by policy: mailbox unavailable`,
    ],
    ['dead_mailbox', DAEMON, `<${ADDRESS}>: Empfänger unbekannt`],
    ['dead_mailbox', DAEMON, `收件人：${ADDRESS}\n退信原因：收件人地址不存在`],
    [
      'dead_mailbox',
      DAEMON,
      `each recipient was rejected.\n\n    Recipient: <${ADDRESS}>\n    Reason:    <${ADDRESS}> user unknown`,
    ],
    ['message', DAEMON, `<${ADDRESS}>: message size 5000 exceeds size limit 1000 of server mx.example.org`],
    ['routing', DAEMON, `<${ADDRESS}>: unable to look up host example.org: Name or service not known`],
    ['mailbox_for_now', DAEMON, `<${ADDRESS}>: la casella del destinatario è piena`],
  ])('has the reason %s', async (expected, headers, body) => {
    expect(await readBounce(headers, body)).toBe(expected);
  });

  it('about several recipients has a separate reason for each recipient', async () => {
    const bob = '<bob@example.net>: host mx.example.net said: 550 5.1.1 unknown';
    const ann = `<${ADDRESS}>: host mx.example.org said: 550 5.7.1 blocked by policy`;
    expect(await readBounce(DAEMON, `${bob}\n\n${ann}`)).toBe('policy');
    expect(await readBounce(DAEMON, `<bob@example.net>: unknown user\n\n<${ADDRESS}>: mailbox is full`)).toBe(
      'mailbox_for_now',
    );
  });

  it.each([
    ['that only warns', `${DAEMON.replace('failure', 'Warning: delay')}`, `<${ADDRESS}>: user unknown (#4.1.1)`],
    [
      'of a server that still attempts the delivery',
      DAEMON,
      `not yet been delivered to:\n  ${ADDRESS}\n    unknown user`,
    ],
    ['that quotes the email', DAEMON, `Sorry.\n--- Below this line is a copy\nTo: ${ADDRESS}\n550 5.1.1 user unknown`],
    ['with a header of the email', DAEMON, `Sorry.\n\nTo: ${ADDRESS}\nSubject: No such user?`],
    ['of an unmarked auto-responder', `From: ${ADDRESS}`, `${ADDRESS} is no longer with us: unknown user`],
    ['in German that only warns', DAEMON, `An ${ADDRESS} noch nicht zugestellt: 450 4.2.1 Postfach vorübergehend voll`],
  ])('%s changes nothing', async (_, headers, body) => {
    expect(await readBounce(headers, body)).toBe('nothing');
  });

  it.each([
    ["o'brien@example.org", "o'brien@example.org"],
    ['ref=7@example.org', 'REF=7@example.org'],
    ['ann@xn--bcher-kva.example', 'ann@bücher.example'],
  ])('about %s is recognized if it writes the address as %s', async (address, written) => {
    expect(await readBounce(DAEMON, `<${written}>: host mx said: 550 5.1.1 unknown user`, { address })).toBe(
      'dead_mailbox',
    );
    const failed = `From: MAILER-DAEMON@mx.example.org\nX-Failed-Recipients: ${address}`;
    expect(await readBounce(failed, `  ${written}\n    Unknown user`, { address })).toBe('dead_mailbox');
    expect(await readBounce(DAEMON, `<x${written}>: host mx said: 550 5.1.1 unknown user`, { address })).toBe(
      'unknown',
    );
  });

  it('with a table may have the reply in a separate cell', async () => {
    const cells = `<table><tr><td>To</td><td>${ADDRESS}</td></tr><tr><td>Reason</td><td>550 5.1.1 Unknown</td></tr></table>`;
    expect(await readBounce(`${DAEMON}\nContent-Type: text/html`, cells)).toBe('dead_mailbox');
  });

  it('without a charset is decoded as Windows-1252 if it is not UTF-8', async () => {
    const text = `${DAEMON}\n\n<${ADDRESS}>:\nRemote host said: 550 Empf\xe4nger unbekannt\n`;
    const raw = Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1');
    const read = await readMessage(raw, { at: new Date(0), sender: '', isReturned: true });
    const feedback = { refusal: { why: 'dead_mailbox' } };
    expect(read.kind === 'status' && read.of(ADDRESS)).toMatchObject({ kind: 'report', feedback });
  });

  it('from a hostile server is read quickly', async () => {
    const startedAt = readThreadCpuMs();
    for (const text of ['-', '>', 'a@', 'a@b ', '550 ', ' ', 'not ', 'will '])
      await readBounce(DAEMON, `${ADDRESS} ${text.repeat(24_000 / text.length)}`);
    expect(readThreadCpuMs() - startedAt).toBeLessThan(1500);
  });
});

it.each(['message/delivery-status', 'message/feedback-report'])(
  'an email of a person with a report attached (%s) is an email',
  async (type) => {
    const report = `Final-Recipient: rfc822; ${ADDRESS}\nAction: failed\nStatus: 5.1.1`;
    const parts = `--b\nContent-Type: text/plain\n\nLook\n--b\nContent-Type: ${type}\n\n${report}\n--b--\n`;
    const raw = Buffer.from(`From: bob@example.net\nContent-Type: multipart/mixed; boundary=b\n\n${parts}`);
    const read = await readMessage(raw, { at: new Date(0), sender: 'bob@example.net', isReturned: false });
    expect(read).toMatchObject({ kind: 'mail', mail: { text: 'Look\n' } });
  },
);

describe('a delivery status', () => {
  const readReport = async (fields: string) => {
    const type = 'multipart/report; report-type=delivery-status; boundary=b';
    const report = `--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx\n\n${fields}\n--b--`;
    return readBounce(`${DAEMON}\nContent-Type: ${type}`, report);
  };

  it('may have comments in its fields', async () => {
    const fields = `Final-Recipient: rfc822; ${ADDRESS} (Ann)\nAction: failed (permanent)\nStatus: 5.1.1 (unknown)`;
    expect(await readReport(fields)).toBe('dead_mailbox');
  });

  it('may have 8-bit text that is not UTF-8', async () => {
    const type = 'multipart/report; report-type=delivery-status; boundary=b';
    const fields = `Final-Recipient: rfc822; ${ADDRESS}\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 Empf\xe4nger unbekannt`;
    const report = `From: MAILER-DAEMON@mx\nContent-Type: ${type}\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx\n\n${fields}\n--b--\n`;
    const raw = Buffer.from(report.replaceAll('\n', '\r\n'), 'latin1');
    const read = await readMessage(raw, { at: new Date(0), sender: '', isReturned: true });
    const feedback = { refusal: { why: 'dead_mailbox' } };
    expect(read.kind === 'status' && read.of(ADDRESS)).toMatchObject({ kind: 'report', feedback });
  });

  it('without an action is a failure if its status is permanent', async () => {
    const recipient = `Final-Recipient: rfc822; ${ADDRESS}`;
    expect(await readReport(`${recipient}\nStatus: 5.1.1`)).toBe('dead_mailbox');
    expect(await readReport(`${recipient}\nStatus: 4.2.2`)).toBe('nothing');
  });
});

describe('an email of an old program', () => {
  const textOf = async (type: string, body: Buffer) => {
    const raw = Buffer.concat([Buffer.from(`From: ann@example.org\r\nContent-Type: ${type}\r\n\r\n`), body]);
    const read = await readMessage(raw, { at: new Date(0), sender: ADDRESS, isReturned: false });
    return read.kind === 'mail' ? (read.mail.text ?? read.mail.html)?.trim() : read.kind;
  };
  const LATIN = Buffer.from('Caf\xe9 \x80', 'latin1');

  it.each([
    ['text/plain', LATIN, 'Café €'],
    ['text/plain; format=flowed', LATIN, 'Café €'],
    ['text/html;\r\n\tname=x', LATIN, 'Café €'],
    ['text/plain; charset=windows-1252', LATIN, 'Café €'],
    ['text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: quoted-printable', Buffer.from('=93=80=94'), '“€”'],
    ['text/plain; charset=iso-8859-2', Buffer.from('\xb9', 'latin1'), 'š'],
    ['text/plain', Buffer.from('Café'), 'Café'],
  ])(
    'is decoded with its charset, or as UTF-8 or Windows-1252 if it names no charset: %s',
    async (type, body, text) => {
      expect(await textOf(type, body)).toBe(text);
    },
  );

  it.each(['multipart/mixed', 'multipart/alternative; charset="utf-8"'])(
    'is text if it is a multipart without a boundary: %s',
    async (type) => {
      expect(await textOf(type, Buffer.from('Hello'))).toBe('Hello');
    },
  );
});
