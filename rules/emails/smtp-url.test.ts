import { describe, expect, it } from 'vitest';
import { parseSmtpUrl } from './smtp-url.ts';

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
  ])('reads %s', (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected);
  });

  it.each([
    'relay.example.com',
    'http://relay.example.com',
    'smtp://',
    'smtp://user:topsecret@',
    'smtp://user:topsecret@a?maxMessages=0',
    'smtp://user:topsecret%zz@a',
    'smtp://user:topsecret@a?requiretls=true',
    'smtp://user:topsecret@a?requireTLS=yes',
    'smtp://user:topsecret@a?secure=true&requireTLS=true',
    'smtp://user:topsecret@a?name=mail%20me',
    'smtp://user:topsecret@a?requireTLS=false&requireTLS=true',
    'smtp://user:topsecret@a?requireTLS=true&ignoreTLS=true',
    'smtp://user:topsecret@a/requireTLS=true',
    'smtp://user:topsecret@a#requireTLS=true',
  ])('SMTP_URL refuses %s', (url) => {
    expect(() => parseSmtpUrl(url)).toThrow(/^SMTP_URL\b(?!.*topsecret)/);
  });
});

it('names the unknown option and the similar known one', () => {
  expect(() => parseSmtpUrl('smtp://a?requiretls=true')).toThrow(
    'SMTP_URL: unknown option requiretls, did you mean requireTLS? The options are requireTLS, ignoreTLS, ' +
      'tls.rejectUnauthorized, name, maxConnections and maxMessages.',
  );
});
