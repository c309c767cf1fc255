import parsePhoneNumber, { type CountryCode, getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max';

export interface PhoneNumber {
  /** E.164, `+` and digits. */
  e164: string;
  /** ISO 3166-1 alpha-2. For a calling code of several countries, its main country. */
  country: string;
}

/** Reads a number in E.164 with its country. Undefined if it is invalid, or no country has its calling code. */
export function readPhoneNumber(text: string): PhoneNumber | undefined {
  return /^\+[1-9]\d{6,14}$/.test(text) ? toPhoneNumber(parsePhoneNumber(text)) : undefined;
}

const WRITTEN_MAX_CHARS = 80;
const BRACKETS: Readonly<Record<string, string>> = { '[': '(', ']': ')' };
/** The kind of a number, or a scheme, before it: `tel:`, `Mobil: `, `whatsapp:`, and the `p:` of Facebook's exports. */
const LABEL =
  /^(?:(?:tel|sms|smsto|whatsapp|[pmt]|phone|telefon|telefono|mobil|mobile|mob|cell|handy|gsm)\b\s*\.?\s*[:.]\s*|(?:tel|mob|phone|mobile|mobil|handy|[pmt])\s+(?=[+\d(]))/i;
/** The extension of a company's line, or a note in words, after a number. The number itself is the rest. */
const EXTENSION =
  /(?:\s*;(?:ext|phone-context)=.*|[\s,;]*(?:ext(?:ension|n)?|x|durchwahl|dw|poste|int)\.?\s*:?\s*\d{1,6}|\s*#\d{1,6}|\s*\(\s*\p{L}[\p{L} .]{0,20}\))$/iu;

/** Converts the digits of other scripts, such as Arabic, which NFKC keeps. */
function westernDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let zero = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero -= 1;
    return String(code - zero);
  });
}

/**
 * Reads a number as people write it: `+49 (151) 123-4567`, `0049151…`, `tel:+49151…`, `0151 …` with the country it is
 * dialed from, and `49151…`, whose plus a spreadsheet has dropped. A number without `+` or `00` must be valid in the
 * country's plan, because a guess would text an unknown person.
 * @param country ISO 3166-1 alpha-2, of numbers without a calling code
 */
export function readWrittenNumber(text: string, country: string | null): PhoneNumber | undefined {
  if (text.length > WRITTEN_MAX_CHARS) return undefined;
  const written = westernDigits(text.normalize('NFKC'))
    .replaceAll(/\p{Cf}|\p{So}|\uFE0F/gu, '') // Address books copy numbers with invisible marks and pictures of phones.
    .replaceAll('_', ' ')
    .replaceAll(/["'=[\]]/g, (sign) => BRACKETS[sign] ?? '') // A spreadsheet marks text with an apostrophe, or ="…".
    .trim()
    .replace(LABEL, '')
    .replace(EXTENSION, '')
    .replace(/[,;\s]+$/, '')
    .replace(/^(\+?\d{7,})[.,]0+$/, '$1') // A spreadsheet wrote a number.
    .replace(/^\(\+(\d{1,3})\)/, '+$1')
    .replace(/^\+\s*(?:\+|00)/, '+');
  if (!/^\+?[\d\s()./‐-―·-]{6,40}$/.test(written)) return undefined;
  const plain = written.replace(/\(0\)/, '').replaceAll(/[^\d+]/g, '');
  if (plain.startsWith('+')) return readPhoneNumber(plain);
  if (plain.startsWith('00')) return readPhoneNumber(`+${plain.slice(2)}`);
  return withoutPrefix(plain, country);
}

/**
 * Reads digits without `+` and `00`: a national number, or an international one without its plus. A number that could
 * be both is not read.
 */
function withoutPrefix(digits: string, country: string | null): PhoneNumber | undefined {
  const international = toPhoneNumber(validNumber(`+${digits}`));
  if (country === null || !isSupportedCountry(country) || international?.country === country) return international;
  const national = parsePhoneNumber(digits, country);
  if (national === undefined) return international;
  if (national.formatNational().replaceAll(/\D/g, '') === digits) {
    // The prefix of national calls identifies the kind of number, so checking its length is enough, as with a plus.
    const hasPrefix = digits.length > national.nationalNumber.length;
    return national.isValid() || (hasPrefix && national.isPossible()) ? toPhoneNumber(national) : international;
  }
  if (!national.isValid()) return international;
  const isAmbiguous = international !== undefined || isOfCountry(`+${digits}`, country);
  return isAmbiguous ? undefined : toPhoneNumber(national);
}

/** Tells whether a number with its calling code has the length of numbers in this country. */
function isOfCountry(text: string, country: CountryCode): boolean {
  const number = parsePhoneNumber(text);
  return number?.countryCallingCode === getCountryCallingCode(country) && number.isPossible();
}

function validNumber(text: string, country?: CountryCode) {
  const number = parsePhoneNumber(text, country);
  return number?.isValid() ? number : undefined;
}

/** Tells whether numbers of a country can be read. */
export function isPhoneCountry(country: string): boolean {
  return isSupportedCountry(country);
}

function toPhoneNumber(number: ReturnType<typeof parsePhoneNumber>): PhoneNumber | undefined {
  const country = number?.country ?? number?.getPossibleCountries()[0];
  return number && country ? { e164: number.number, country } : undefined;
}
