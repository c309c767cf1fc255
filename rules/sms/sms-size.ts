export type SmsEncoding = 'GSM7' | 'UCS2';

export interface SmsSize {
  encoding: SmsEncoding;
  /** The number of parts of the SMS, for which the provider bills. */
  segments: number;
}

/** The basic table of GSM 03.38 §6.2.1, without the escape (0x1B), which is not a character. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** The extension table (GSM 03.38 §6.2.1.1). Each of its characters takes two septets: an escape and the character. */
const EXTENSION = new Set('\f^{}\\[~]|€');

/**
 * The maximum number of septets or UTF-16 units in an SMS of one part, and in each part of a longer SMS. Each part of a
 * longer SMS has a header of six octets.
 */
const GSM7 = { single: 160, part: 153 };
const UCS2 = { single: 70, part: 67 };

/**
 * Returns the encoding and the number of parts of a text: GSM 7-bit if every character is in its tables, else UCS-2.
 * Neither an extension character (two septets) nor a surrogate pair is split over two parts. Source: GSM 03.38, 03.40
 * §9.2.3.24.
 */
export function measureSms(body: string): SmsSize {
  const characters = [...body];
  if (characters.every((char) => BASIC.has(char) || EXTENSION.has(char)))
    return {
      encoding: 'GSM7',
      segments: countSegments(
        characters.map((char) => (EXTENSION.has(char) ? 2 : 1)),
        GSM7,
      ),
    };
  return {
    encoding: 'UCS2',
    segments: countSegments(
      characters.map((char) => char.length),
      UCS2,
    ),
  };
}

/** @param units the units of each character, 1 or 2 */
function countSegments(units: number[], limit: { single: number; part: number }): number {
  const total = units.reduce((sum, unit) => sum + unit, 0);
  if (total <= limit.single) return 1;
  let segments = 1;
  let used = 0;
  for (const unit of units) {
    if (used + unit > limit.part) {
      segments++;
      used = 0;
    }
    used += unit;
  }
  return segments;
}
