import { createHash } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, describe, expect, it } from 'vitest';
import { createDkimSigner, type DkimSigner } from '../../channels/email/dkim.ts';
import { buildFinishedEmail, type FinishedEmailInput } from '../../channels/email/finished-email.ts';
import { createThreads } from '../../compute/threads.ts';
import { formatDkimRecord, generateDkimKey } from '../../rules/domains/dkim-key.ts';
import { TimeLimitExceeded } from '../../rules/time-limit.ts';

const threads = createThreads();
afterAll(() => threads.close());

const createBytes = (n: number) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 31 + (i >> 8)) % 256));

/**
 * An email with unusual parts: names, inline images, lines that start with dots, eight-bit bytes of an attached
 * message.
 */
const createInput = (signer?: DkimSigner): Extract<FinishedEmailInput, { message: unknown }> => ({
  signer,
  rewrittenFields: [],
  message: {
    from: { name: 'Söhne & Co', address: 'shop@example.com' },
    to: { address: 'ann@example.org' },
    subject: 'Grüße',
    html: '<p>.Thank you</p><img src="cid:logo">',
    text: '.Thank you\n..',
    headers: [['X-Order', '7']],
    messageId: '<018f@example.com>',
    date: new Date('2026-03-02T10:00:00Z'),
    attachments: [
      { filename: 'large.bin', contentType: 'application/octet-stream', content: createBytes(700_001) },
      { filename: 'Rechnung Ü.pdf', contentType: 'application/pdf', content: createBytes(300_000) },
      {
        filename: 'logo.png',
        contentType: 'image/png',
        content: createBytes(999),
        disposition: 'inline',
        contentId: 'logo',
      },
      {
        filename: 'before.eml',
        contentType: 'message/rfc822',
        content: Buffer.from('Subject: ä\r\n\r\n.dot\n..two\r'),
      },
    ],
  },
});
const finishInThread = (p: Extract<FinishedEmailInput, { message: unknown }>) =>
  threads.run({
    projectId: 'a',
    name: 'email.finish',
    input: p,
    transfer: p.message.attachments.map((a) => a.content),
  });

/** Returns a hash of the message without its boundaries, which are random. */
function hashWithoutBoundaries(message: Uint8Array): string {
  const text = Buffer.from(message)
    .toString('latin1')
    .replaceAll(/----_NmP-[0-9a-f]+-Part|--_NmP-[0-9a-f]+-Part/g, 'B');
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

describe('an email that is composed in a thread', () => {
  it('has the same bytes as an email composed on the event loop, before signing and when it is sent', async () => {
    const { raw, payload } = await finishInThread(createInput());
    expect(hashWithoutBoundaries(raw)).toBe('73f9e339afcd156ca9a52fa81c3b2ad02e3553f6f724835c49ee2dcc236a3f72');
    expect(hashWithoutBoundaries(payload.data)).toBe(
      'a2639c72cc3ba64dde1eb5113002535d37e75c7370ba52e88f169ce61d4fa535',
    );
    expect(payload).toMatchObject({ end: '.\r\n', eightBit: true, bytes: 1_371_411 });
  });

  it('is signed in the thread with the key of its domain, and the signature is valid', async () => {
    const { privateKey, publicKey } = await generateDkimKey();
    const recordValue = formatDkimRecord(publicKey);
    const { raw } = await finishInThread(
      createInput(createDkimSigner({ domain: 'example.com', selector: 's', privateKey })),
    );
    const { results } = await dkimVerify(Buffer.from(raw), { resolver: async () => [[recordValue]] });
    expect(results.map(({ status }) => status.result)).toEqual(['pass']);
  });

  it('moves its files to the thread without a copy', async () => {
    const email = createInput();
    await finishInThread(email);
    expect(email.message.attachments[0]?.content.byteLength).toBe(0);
  });

  it('has the same memory before signing and when it is sent, if no line starts with a dot', async () => {
    const { message } = createInput();
    const plain = { ...message, html: '<p>x</p>', text: 'x', attachments: message.attachments.slice(0, 1) };
    const { raw, payload } = await buildFinishedEmail({ message: plain, signer: undefined, rewrittenFields: [] });
    expect(payload.data.buffer).toBe(raw.buffer);
    const { raw: there, payload: theirs } = await finishInThread({
      message: plain,
      signer: undefined,
      rewrittenFields: [],
    });
    expect(theirs.data.buffer).toBe(there.buffer);
  });

  it('fails if its thread does not finish, and the next email is composed', async () => {
    const strict = createThreads({ hardLimitMs: 1 });
    const p = createInput();
    await expect(strict.run({ projectId: 'a', name: 'email.finish', input: p })).rejects.toBeInstanceOf(
      TimeLimitExceeded,
    );
    await strict.close();
    expect((await finishInThread(p)).raw.byteLength).toBeGreaterThan(1_000_000);
  });
});
