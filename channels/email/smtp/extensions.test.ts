import { describe, expect, it } from 'vitest';
import { parseExtensions } from './extensions.ts';

describe('the reply to EHLO', () => {
  it('is read to its last line, in upper or lower case', () => {
    const offers = parseExtensions(
      'mail.example.com at your service\nsize 1000\n8BITMIME\nAUTH=LOGIN\nAuth PLAIN CRAM-MD5\nPipelining',
    );
    expect(offers).toMatchObject({ pipelining: true, eightBitMime: true, size: true, maxBytes: 1000, startTls: false });
    expect([...offers.auth]).toEqual(['LOGIN', 'PLAIN', 'CRAM-MD5']);
  });

  it('sets no limit of the message size if SIZE is 0 or has no number', () => {
    expect(parseExtensions('x\nSIZE 0').maxBytes).toBe(Number.POSITIVE_INFINITY);
    expect(parseExtensions('x\nSIZE')).toMatchObject({ size: true, maxBytes: Number.POSITIVE_INFINITY });
  });

  it('starts with the name of the server, which is not read as a keyword', () => {
    expect(parseExtensions('PIPELINING').pipelining).toBe(false);
  });
});
