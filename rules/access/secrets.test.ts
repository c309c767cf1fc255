import { describe, expect, it } from 'vitest';
import { deriveKey, maskSecret, sealSecret, unsealSecret } from './secrets.ts';

const key = deriveKey('a secret key of the service', 'at-rest');

describe('secrets at rest', () => {
  it('are decrypted to the original, and look different each time', () => {
    const [one, two] = [sealSecret(key, 'here', 'pässword'), sealSecret(key, 'here', 'pässword')];
    expect(one).not.toBe(two);
    expect(unsealSecret(key, 'here', one)).toBe('pässword');
  });

  it('cannot be decrypted with another context or key, or after a change', () => {
    const sealed = sealSecret(key, 'here', 'password');
    const changed = Buffer.from(sealed, 'base64');
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(() => unsealSecret(key, 'there', sealed)).toThrow();
    expect(() => unsealSecret(deriveKey('a secret key of the service', 'links'), 'here', sealed)).toThrow();
    expect(() => unsealSecret(key, 'here', changed.toString('base64'))).toThrow();
    expect(() => unsealSecret(key, 'here', 'short')).toThrow('not a sealed secret');
  });

  it('have a separate key for each purpose', () => {
    expect(deriveKey('one key', 'links').equals(deriveKey('one key', 'verp'))).toBe(false);
    expect(deriveKey('one key', 'links').equals(deriveKey('one key', 'links'))).toBe(true);
  });

  it('are masked except for their first four characters, and completely if they are short', () => {
    expect(maskSecret('whsec_0123456789')).toBe('whse••••');
    expect(maskSecret('short')).toBe('••••');
  });
});
