import { expect, it } from 'vitest';
import { toReverseDnsName } from './deployment.ts';

it.each([
  ['203.0.113.7', '7.113.0.203.in-addr.arpa'],
  ['::ffff:203.0.113.7', '7.113.0.203.in-addr.arpa'],
  // This address and its name are the example in RFC 3596 §2.5.
  ['4321:0:1:2:3:4:567:89ab', 'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa'],
])('the reverse name of %s is found under %s', (address, name) => {
  expect(toReverseDnsName(address)).toBe(name);
});
