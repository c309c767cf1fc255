import { createHmac, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createIdMac } from './id-mac.ts';

it('the MAC of an id equals the HMAC-SHA256 by Node, for keys of any length', () => {
  for (const bytes of [0, 1, 16, 32, 63, 64, 65, 200]) {
    const key = randomBytes(bytes);
    const mac = createIdMac(key);
    const other = createIdMac(randomBytes(32));
    for (let n = 0; n < 200; n++) {
      const id = randomBytes(16);
      other(id, 'hex');
      const expected = createHmac('sha256', key).update(id).digest();
      expect(mac(id, 'hex')).toBe(expected.toString('hex'));
      expect(mac(id, 'binary')).toBe(expected.toString('latin1'));
    }
  }
});

it('refuses an id that does not have 16 bytes', () => {
  expect(() => createIdMac(randomBytes(32))(randomBytes(15), 'hex')).toThrow('16 bytes');
});
