import { createPrivateKey, createPublicKey } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDkimSigner, type DkimSigner, signMessage } from '../../channels/email/dkim.ts';
import { buildMessage } from '../../channels/email/mime.ts';
import { type DkimKey, formatDkimRecord, generateDkimKey } from '../../rules/domains/dkim-key.ts';
import { EMAIL_PROVIDERS } from '../../rules/emails/email-providers.ts';

let key: DkimKey;
let signer: DkimSigner;
beforeAll(async () => {
  key = await generateDkimKey();
  signer = createDkimSigner({ domain: 'example.com', selector: 'tidings', privateKey: key.privateKey });
});

/** Returns the verdict of a receiver whose DNS has the record that the service asks users to publish. */
async function checkDkim(message: string | Buffer) {
  const resolver = async (name: string, type: string): Promise<string[][]> => {
    if (type === 'TXT' && name === 'tidings._domainkey.example.com') return [[formatDkimRecord(key.publicKey)]];
    throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  };
  const { results } = await dkimVerify(Buffer.from(message as string, 'latin1'), { resolver });
  const [first] = results;
  return { result: first?.status.result, comment: first?.status.comment };
}

const HEAD = [
  'From: Ann  <ann@example.com>',
  'To: bob@example.org',
  'Subject: A subject that is folded',
  '\tover two   lines ',
  'Date: Mon, 02 Mar 2026 10:00:00 +0000',
  'Message-ID: <1@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'Reply-To: help@example.com',
  'List-Unsubscribe: <https://example.com/u/1>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  'X-Other: not signed',
].join('\r\n');

describe('a DKIM signature', () => {
  it.each([
    ['plain', 'Hello\r\n'],
    ['with white space that relaxed canonicalisation changes', 'a  b\t\tc \r\n \r\n\r\nend \t\r\n\r\n\r\n'],
    ['without a line end', 'Hello'],
    ['empty', ''],
    ['of empty lines only', '\r\n\r\n'],
    ['of eight-bit bytes', 'caf\xc3\xa9\r\n'],
  ])('is valid for a body %s', async (_name, body) => {
    const signed = await signMessage(`${HEAD}\r\n\r\n${body}`, signer);
    expect(await checkDkim(signed)).toMatchObject({ result: 'pass' });
  });

  it('is valid for a message that is a Buffer', async () => {
    const signed = await signMessage(Buffer.from(`${HEAD}\r\n\r\nHello\r\n`), signer);
    expect(Buffer.isBuffer(signed)).toBe(true);
    expect((await checkDkim(signed.toString('latin1'))).result).toBe('pass');
  });

  it('is valid for a body that the caller marks as canonical', async () => {
    const signed = await signMessage(`${HEAD}\r\n\r\nHello\r\nthere\r\n`, signer, { canonicalBody: true });
    expect((await checkDkim(signed)).result).toBe('pass');
  });

  it('is valid for a message with attachments and non-ASCII names', async () => {
    const message = await buildMessage({
      from: { name: 'Jörg Müller', address: 'joerg@example.com' },
      to: { name: '山田太郎', address: 'taro@example.org' },
      subject: 'Grüße '.repeat(40),
      html: '<p>Hallo  Welt</p>\n',
      text: 'Hallo  Welt \n',
      headers: [['List-Unsubscribe', '<https://example.com/u/1>']],
      attachments: [{ filename: 'a.bin', contentType: 'application/octet-stream', content: Buffer.alloc(5000, 7) }],
      messageId: '<2@example.com>',
      date: new Date('2026-03-02T10:00:00Z'),
    });
    expect((await checkDkim((await signMessage(message, signer)).toString('latin1'))).result).toBe('pass');
  });

  it('covers the headers of one-click unsubscribe, and signs From one time more than it occurs', async () => {
    const signed = await signMessage(`${HEAD}\r\n\r\nHello\r\n`, signer);
    const names = /h=([^;]+);/.exec(signed)?.[1]?.replace(/\s/g, '').split(':');
    expect(names).toEqual([
      'from',
      'from',
      'to',
      'subject',
      'date',
      'message-id',
      'mime-version',
      'content-type',
      'reply-to',
      'list-unsubscribe',
      'list-unsubscribe-post',
    ]);
  });

  it.each([
    ['the body', (text: string) => text.replace('Hello', 'Hallo')],
    ['the subject', (text: string) => text.replace('A subject', 'Another')],
    ['the unsubscribe link', (text: string) => text.replace('example.com/u/1', 'example.com/u/2')],
    ['the senders, by a second From', (text: string) => text.replace('To: bob', 'From: eve@example.com\r\nTo: bob')],
  ])('becomes invalid if someone changes %s', async (_name, change) => {
    const signed = await signMessage(`${HEAD}\r\n\r\nHello\r\n`, signer);
    expect((await checkDkim(change(signed))).result).not.toBe('pass');
  });

  it('stays valid if SES replaces Date and Message-ID, because these are not signed then', async () => {
    const signed = await signMessage(`${HEAD}\r\n\r\nHello\r\n`, signer, {
      rewrittenFields: EMAIL_PROVIDERS.ses.rewrittenFields,
    });
    const rewritten = signed.replace('<1@example.com>', '<0100@email.amazonses.com>').replace('10:00:00', '10:00:07');
    expect((await checkDkim(rewritten)).result).toBe('pass');
  });

  it('has no line over 78 octets', async () => {
    const signed = await signMessage(`${HEAD}\r\n\r\nHello\r\n`, signer);
    const header = signed.slice(0, signed.indexOf('From:'));
    expect(Math.max(...header.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
  });
});

describe('a DKIM key', () => {
  it('has 2,048 bits, and its record has the public key', () => {
    const privateKey = createPrivateKey(key.privateKey);
    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(key.publicKey).toBe(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64'));
    expect(formatDkimRecord(key.publicKey)).toMatch(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{392}$/);
  });
});
