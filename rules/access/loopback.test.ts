import { describe, expect, it } from 'vitest';
import { isLoopbackAuthority, isLoopbackHost } from './loopback.ts';

describe('a host to bind to', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost', 'LocalHost'])(
    'the host %s is a loopback host',
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  it.each([
    '0.0.0.0',
    '::',
    '192.168.1.2',
    'vm',
    'localhost.example.com',
    '127.0.0.1.nip.io',
    '127.0.0.999',
    'example.com',
  ])('the host %s is not a loopback host', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});

describe('the Host of a request', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:3000',
    'localhost:3000',
    'LOCALHOST',
    'localhost.',
    'app.localhost:80',
    '[::1]:3000',
    '[::1]',
  ])('the Host header %s names this machine', (authority) => {
    expect(isLoopbackAuthority(authority)).toBe(true);
  });

  it.each([
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'notlocalhost',
    '127.0.0.1:80@evil.example',
    '',
    '192.168.1.2:3000',
  ])('the Host header %s does not name this machine', (authority) => {
    expect(isLoopbackAuthority(authority)).toBe(false);
  });
});
