/** Letters of other alphabets, each with the Latin letter that looks the same. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  'АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ЅS ІI ЈJ ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ᴀA ʙB ᴄC ᴅD ᴇE ꜰF ᴊJ ᴋK ᴍM ᴏO ᴘP ꜱS ᴛT ᴜU ᴠV ᴡW ᴢZ'
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);

/**
 * Converts text to capitals without accents and without compatibility forms such as full-width letters. Replaces
 * letters of other alphabets by the Latin letters that look the same, because people mix keyboards ("Cтоп"). A letter
 * that is repeated three times or more ("STOOOP") becomes one letter.
 */
export function foldLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{Script=Cyrillic}\p{Script=Greek}ᴀ-ᴢꜱꜰ]/gu, (letter) => LOOK_ALIKES.get(letter) ?? letter)
    .replaceAll(/(\p{L})\1{2,}/gu, '$1');
}
