import parsePhoneNumber, { type CountryCode, getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max';

export interface PhoneNumber {
  /** The number in E.164: `+` and digits. */
  e164: string;
  /**
   * The country in ISO 3166-1 alpha-2. If several countries share the calling code and the number does not show which,
   * the main country.
   */
  country: string;
}

/** Tells whether a text has the form of a number in E.164: `+` and 7 to 15 digits. */
export function isE164(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text);
}

/**
 * Parses a number in E.164 and finds its country. Undefined if the text is not in E.164, or no country has its calling
 * code.
 */
export function readPhoneNumber(text: string): PhoneNumber | undefined {
  return isE164(text) ? toPhoneNumber(parsePhoneNumber(text)) : undefined;
}

const WRITTEN_MAX_CHARS = 80;
const BRACKETS: Readonly<Record<string, string>> = { '[': '(', ']': ')' };
/** Matches a label or a URL scheme before a number: `tel:`, `Mobil: `, `whatsapp:`, and `p:` in Facebook's exports. */
const LABEL =
  /^(?:(?:tel|sms|smsto|whatsapp|[pmt]|phone|telefon|telefono|mobil|mobile|mob|cell|handy|gsm)\b\s*\.?\s*[:.]\s*|(?:tel|mob|phone|mobile|mobil|handy|[pmt])\s+(?=[+\d(]))/i;
/**
 * Matches text after a number: an extension in a company, or a note in brackets. The text after the number is removed.
 */
const EXTENSION =
  /(?:\s*;(?:ext|phone-context)=.*|[\s,;]*(?:ext(?:ension|n)?|x|durchwahl|dw|poste|int)\.?\s*:?\s*\d{1,6}|\s*#\d{1,6}|\s*\(\s*\p{L}[\p{L} .]{0,20}\))$/iu;

/**
 * Converts the digits of other scripts, such as Arabic, to 0 to 9. Unicode normalization (NFKC) does not convert such
 * digits.
 */
function toWesternDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let zero = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero -= 1;
    return String(code - zero);
  });
}

/**
 * Parses a number as people write it: `+49 (151) 123-4567`, `0049151…`, `tel:+49151…`, a national number such as `0151
 * …`, and `49151…`, from which a spreadsheet has removed the plus. Digits without `+`, `00` or the prefix of national
 * calls (such as 0) must be valid, either as a number of `country` or with a calling code at their start, because a
 * wrong guess would send an SMS to another person.
 * @param country the country of national numbers, in ISO 3166-1 alpha-2
 */
export function readWrittenNumber(text: string, country: string | null): PhoneNumber | undefined {
  if (text.length > WRITTEN_MAX_CHARS) return undefined;
  const cleaned = toWesternDigits(text.normalize('NFKC'))
    .replaceAll(/\p{Cf}|\p{So}|\uFE0F/gu, '') // Numbers copied from address books may contain invisible characters and phone emojis.
    .replaceAll('_', ' ')
    .replaceAll(/["'=[\]]/g, (sign) => BRACKETS[sign] ?? '') // A spreadsheet marks text with an apostrophe, or ="…".
    .trim()
    .replace(LABEL, '')
    .replace(EXTENSION, '')
    .replace(/[,;\s]+$/, '')
    .replace(/^(\+?\d{7,})[.,]0+$/, '$1') // A spreadsheet wrote the digits as a decimal number.
    .replace(/^\(\+(\d{1,3})\)/, '+$1')
    .replace(/^\+\s*(?:\+|00)/, '+');
  if (!/^\+?[\d\s()./‐-―·-]{6,40}$/.test(cleaned)) return undefined;
  const plain = cleaned.replace(/\(0\)/, '').replaceAll(/[^\d+]/g, '');
  if (plain.startsWith('+')) return readPhoneNumber(plain);
  if (plain.startsWith('00')) return readPhoneNumber(`+${plain.slice(2)}`);
  return readUnprefixed(plain, country);
}

/**
 * Parses digits without `+` and `00`: a national number, or an international number whose plus is missing. If the
 * digits have the form of a national number in the country, they are read as one. Undefined for other digits that could
 * be both.
 */
function readUnprefixed(digits: string, country: string | null): PhoneNumber | undefined {
  const international = toPhoneNumber(parseValidNumber(`+${digits}`));
  if (country === null || !isSupportedCountry(country) || international?.country === country) return international;
  const national = parsePhoneNumber(digits, country);
  if (national === undefined) return international;
  if (national.formatNational().replaceAll(/\D/g, '') === digits) {
    // The prefix of national calls (such as 0) shows that the number is national. As with a plus, it is then enough to
    // check the length.
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

function parseValidNumber(text: string, country?: CountryCode) {
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
