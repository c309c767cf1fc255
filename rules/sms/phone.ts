import parsePhoneNumber, { isSupportedCountry } from 'libphonenumber-js/max';

export interface PhoneNumber {
  /** E.164, `+` and digits. */
  e164: string;
  /** ISO 3166-1 alpha-2; of a number that could be of several, the main one of its calling code. */
  country: string;
}

/** Reads a number in E.164 with its country; undefined where it is none, or no country has its calling code. */
export function readPhoneNumber(text: string): PhoneNumber | undefined {
  return /^\+[1-9]\d{6,14}$/.test(text) ? toPhoneNumber(parsePhoneNumber(text)) : undefined;
}

/**
 * Reads a number as people write it: `+49 (151) 123-4567`, `0049151…`, `0151 …` with the country it is called from, and
 * `49151…`, whose plus a spreadsheet has dropped. Only a number that the country's plan has is read, because a guess
 * would text a stranger.
 * @param country ISO 3166-1 alpha-2, of numbers without a calling code
 */
export function readWrittenNumber(text: string, country: string | null): PhoneNumber | undefined {
  const written = text.normalize('NFKC').trim();
  const exact = readPhoneNumber(written);
  if (exact) return exact;
  if (!/^\+?[\d\s()./‐-―·-]{6,40}$/.test(written)) return undefined;
  const plain = written.replace(/\(0\)/, '').replaceAll(/[^\d+]/g, '');
  if (plain.startsWith('+')) return validNumber(plain);
  if (plain.startsWith('00')) return validNumber(`+${plain.slice(2)}`);
  return (country === null ? undefined : validNumber(plain, country)) ?? validNumber(`+${plain}`);
}

function validNumber(text: string, country?: string): PhoneNumber | undefined {
  const number =
    country === undefined || !isSupportedCountry(country) ? parsePhoneNumber(text) : parsePhoneNumber(text, country);
  return number?.isValid() ? toPhoneNumber(number) : undefined;
}

/** Whether a default country is one whose numbers can be read. */
export function isPhoneCountry(country: string): boolean {
  return isSupportedCountry(country);
}

function toPhoneNumber(number: ReturnType<typeof parsePhoneNumber>): PhoneNumber | undefined {
  const country = number?.country ?? number?.getPossibleCountries()[0];
  return number && country ? { e164: number.number, country } : undefined;
}
