import { expect, it } from 'vitest';
import { readPhoneNumber, readWrittenNumber } from './phone.ts';

it('a number in E.164 has a country', () => {
  expect(readPhoneNumber('+4915112345678')).toEqual({ e164: '+4915112345678', country: 'DE' });
  expect(readPhoneNumber('+15551234567')?.country).toBe('US');
});

it('refuses text that is not an E.164 number', () => {
  for (const text of ['015112345678', '49151', '+0151123456', '+4915112345678901', 'hello', '+49 151 12345678']) {
    expect(readPhoneNumber(text)).toBeUndefined();
  }
});

it.each([
  ['+49 (151) 123-45678', null, '+4915112345678'],
  ['+49 (151) 123-4567', null, '+491511234567'],
  ['+49 (0) 151 12345678', null, '+4915112345678'],
  ['tel:+4915112345678', null, '+4915112345678'],
  ["'+4915112345678", null, '+4915112345678'],
  ['\u202a+49 151 12345678\u202c', null, '+4915112345678'],
  ['4915112345678', 'DE', '+4915112345678'],
  ['14155552671', 'US', '+14155552671'],
  ['3912345678', 'IT', '+393912345678'],
  ['15112345678', 'DE', '+4915112345678'],
  ['0049 151 12345678', null, '+4915112345678'],
  ['4915112345678', null, '+4915112345678'],
  ['4915112345678', 'US', '+4915112345678'],
  ['0151/12345678', 'DE', '+4915112345678'],
  ['(202) 555-0143', 'US', '+12025550143'],
  ['202.555.0143', 'US', '+12025550143'],
  ['(+49) 151 12345678', null, '+4915112345678'],
  ['07700 900123', 'GB', '+447700900123'], // A number for films: no plan has it.
  ['011 49 151 12345678', 'US', '+4915112345678'],
])('%s, written in %s, is %s', (text, country, e164) => {
  expect(readWrittenNumber(text, country)?.e164).toBe(e164);
});

it.each([
  ['0151 12345678', null],
  ['call me', 'DE'],
  ['12', 'DE'],
  ['41791234567', 'DE'], // A German number without its 0, or a Swiss one without its plus.
  ['491511234567', 'DE'], // One digit is missing behind +49 151, or 0491 is the area.
  ['+49 151 1', 'DE'],
  ['0151 12345678 or 0152 1234567', 'DE'],
  ['', 'DE'],
])('"%s", written in %s, is no number that can be read', (text, country) => {
  expect(readWrittenNumber(text, country)).toBeUndefined();
});
