import { describe, expect, it } from 'vitest';
import {
  createTrustedProxies,
  findCallerAddress,
  isAddressOrNetwork,
  isLoopbackAddress,
  toCallerNetwork,
} from './caller-address.ts';

describe('the address of a caller', () => {
  const proxies = createTrustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8:aa::/48']);
  it.each([
    ['no X-Forwarded-For', '10.0.0.1', undefined, '10.0.0.1'],
    ['X-Forwarded-For from an untrusted address', '203.0.113.1', '198.51.100.1', '203.0.113.1'],
    ['one proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a forged entry before the entry of the proxy', '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['an invalid entry before the entry of the proxy', '10.0.0.1', 'nonsense, 198.51.100.1', '198.51.100.1'],
    ['several proxies', '10.0.0.1', '198.51.100.1, 192.0.2.7,10.2.3.4', '198.51.100.1'],
    ['only trusted proxies', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an invalid last entry', '10.0.0.1', '198.51.100.1, nonsense', '10.0.0.1'],
    ['an invalid entry before a trusted proxy', '10.0.0.1', 'nonsense, 10.0.0.2', '10.0.0.1'],
    ['an empty X-Forwarded-For', '10.0.0.1', '', '10.0.0.1'],
    ['a proxy with an IPv6 address', '2001:db8:aa::1', '198.51.100.1', '198.51.100.1'],
    ['a proxy whose IPv4 is wrapped in IPv6', '::ffff:10.0.0.1', '2001:DB8::0:7', '2001:db8::7'],
    ['ports', '10.0.0.1', '[2001:db8::7]:443', '2001:db8::7'],
    ['a closed connection', undefined, '198.51.100.1', 'unknown'],
  ])('%s', (_, peer, forwardedFor, address) => {
    expect(findCallerAddress({ peer, forwardedFor, proxies })).toBe(address);
  });
});

describe('the network of a caller', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['unknown', 'unknown'],
  ])('the network of the caller %s is %s', (address, network) => {
    expect(toCallerNetwork(address)).toBe(network);
  });
});

it('isAddressOrNetwork accepts addresses and networks, but not the network /0', () => {
  const taken = ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '10.0.0.1/32', '::ffff:10.0.0.1'];
  const refused = [
    '',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'proxy',
    '10.0.0',
    'fe80::1%eth0',
  ];
  expect(taken.filter(isAddressOrNetwork)).toEqual(taken);
  expect(refused.filter(isAddressOrNetwork)).toEqual([]);
});

it('recognizes loopback addresses', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1'].every(isLoopbackAddress)).toBe(true);
  expect(['128.0.0.1', '127.evil.example', 'unknown', '::'].some(isLoopbackAddress)).toBe(false);
});
