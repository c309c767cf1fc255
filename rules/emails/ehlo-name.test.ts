import { expect, it } from 'vitest';
import { chooseEhloName } from './ehlo-name.ts';

it.each([
  ['bounces.example.com', 'https://tidings.example.com', 'bounces.example.com'],
  [undefined, 'https://tidings.example.com:8443', 'tidings.example.com'],
  [undefined, 'http://192.0.2.7:3000', '[192.0.2.7]'],
  [undefined, 'http://[2001:db8::7]:3000', '[IPv6:2001:db8::7]'],
  [undefined, 'http://127.0.0.1:3000', null],
  [undefined, 'http://localhost:3000', null],
  [undefined, 'http://[::1]:3000', null],
  [undefined, 'http://intranet', null],
])('is the host of RETURN_PATH_DOMAIN %s, else of PUBLIC_URL %s: %s', (returnPathDomain, publicUrl, name) => {
  expect(chooseEhloName({ returnPathDomain, publicUrl })).toBe(name);
});
