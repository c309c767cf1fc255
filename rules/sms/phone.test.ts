import { expect, it } from 'vitest';
import { consentWord, readPhoneNumber } from './phone.ts';

it('a number in E.164 has a country', () => {
  expect(readPhoneNumber('+4915112345678')).toEqual({ e164: '+4915112345678', country: 'DE' });
  expect(readPhoneNumber('+15551234567')?.country).toBe('US');
});

it('what is no E.164 number is none', () => {
  for (const text of ['015112345678', '49151', '+0151123456', '+4915112345678901', 'hello', '+49 151 12345678']) {
    expect(readPhoneNumber(text)).toBeUndefined();
  }
});

it('only a word of consent alone counts', () => {
  expect(consentWord(' stop ')).toBe('stop');
  expect(consentWord('Start!')).toBe('start');
  expect(consentWord('please stop by at eight')).toBeUndefined();
});
