import parsePhoneNumber from 'libphonenumber-js/max';

export interface PhoneNumber {
  /** E.164, `+` and digits. */
  e164: string;
  /** ISO 3166-1 alpha-2; of a number that could be of several, the main one of its calling code. */
  country: string;
}

/** A number in E.164 with its country; undefined when it is none, or its calling code is nobody's. */
export function readPhoneNumber(text: string): PhoneNumber | undefined {
  if (!/^\+[1-9]\d{6,14}$/.test(text)) return undefined;
  const number = parsePhoneNumber(text);
  if (!number) return undefined;
  const country = number.country ?? number.getPossibleCountries()[0];
  return country ? { e164: number.number, country } : undefined;
}

const STOP_WORDS = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'OPTOUT', 'REVOKE']);
const START_WORDS = new Set(['START', 'YES', 'UNSTOP']);

/** What a received message says about consent: the words that carriers give a meaning, alone in it, in any case. */
export function consentWord(body: string): 'stop' | 'start' | undefined {
  const word = body
    .trim()
    .toUpperCase()
    .replace(/[.!]+$/, '');
  if (STOP_WORDS.has(word)) return 'stop';
  return START_WORDS.has(word) ? 'start' : undefined;
}
