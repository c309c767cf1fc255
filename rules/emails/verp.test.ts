import { expect, it } from 'vitest';
import { createVerpAddress, parseVerpAddress } from './verp.ts';

const key = Buffer.alloc(32, 7);
const id = '0190a000-0000-7000-8000-00000000000a';

it('a return path identifies its email in any case', () => {
  const address = createVerpAddress(key, id, 'bounces.example.com');
  expect(address).toMatch(/^bounce\+[0-9a-f]{52}@bounces\.example\.com$/);
  expect(parseVerpAddress(key, address.toUpperCase())).toBe(id);
});

it('a forged return path identifies no email', () => {
  const address = createVerpAddress(key, id, 'example.com');
  expect(parseVerpAddress(key, address.replace('000a', '000b'))).toBeUndefined();
  expect(parseVerpAddress(Buffer.alloc(32, 8), address)).toBeUndefined();
  expect(parseVerpAddress(key, 'info@example.com')).toBeUndefined();
});
