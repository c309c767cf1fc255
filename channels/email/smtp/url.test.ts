import { describe, expect, it } from 'vitest';
import { parseExtensions } from './extensions.ts';
import { parseSmtpUrl } from './url.ts';

describe('SMTP_URL', () => {
  it.each([
    ['smtp://relay.example.com', { host: 'relay.example.com', port: 25, implicitTls: false, credentials: null }],
    ['smtp://user:p%40ss@relay.example.com', { port: 587, credentials: { user: 'user', pass: 'p@ss' } }],
    ['smtps://apikey:k@relay.example.com', { port: 465, implicitTls: true }],
    [
      'smtp://relay.example.com:2525?requireTLS=true&name=mail.example.com',
      { port: 2525, requireTls: true, clientName: 'mail.example.com' },
    ],
    ['smtp://relay.example.com?tls.rejectUnauthorized=false', { verifyCertificate: false }],
    ['smtp://relay.example.com', { verifyCertificate: true, loopback: false }],
    ['smtp://relay.example.com?maxConnections=5&maxMessages=100', { maxConnections: 5, maxMessages: 100 }],
    ['smtp://localhost', { verifyCertificate: false, loopback: true }],
    ['smtp://[::1]:2525', { host: '::1', loopback: true }],
    ['smtp://127.0.0.1?tls.rejectUnauthorized=true', { verifyCertificate: true }],
  ])('%s', (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected);
  });

  it.each([
    'relay.example.com',
    'http://relay.example.com',
    'smtp://',
    'smtp://user:topsecret@',
    'smtp://user:topsecret@a?maxMessages=0',
    'smtp://user:topsecret%zz@a',
  ])('SMTP_URL refuses %s', (url) => {
    expect(() => parseSmtpUrl(url)).toThrow(/^SMTP_URL\b(?!.*topsecret)/);
  });
});

describe('the answer to EHLO', () => {
  it('is read to its last line, in any case', () => {
    const offers = parseExtensions(
      'mail.example.com at your service\nsize 1000\n8BITMIME\nAUTH=LOGIN\nAuth PLAIN CRAM-MD5\nPipelining',
    );
    expect(offers).toMatchObject({ pipelining: true, eightBitMime: true, size: true, maxBytes: 1000, startTls: false });
    expect([...offers.auth]).toEqual(['LOGIN', 'PLAIN', 'CRAM-MD5']);
  });

  it('with a SIZE of 0, or none, is without a limit', () => {
    expect(parseExtensions('x\nSIZE 0').maxBytes).toBe(Number.POSITIVE_INFINITY);
    expect(parseExtensions('x\nSIZE')).toMatchObject({ size: true, maxBytes: Number.POSITIVE_INFINITY });
  });

  it('does not take the name of the server for a keyword', () => {
    expect(parseExtensions('PIPELINING').pipelining).toBe(false);
  });
});
