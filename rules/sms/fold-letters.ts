/** Letters of other alphabets, each with the Latin letter that it looks like. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  'АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ЅS ІI ЈJ ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ᴀA ʙB ᴄC ᴅD ᴇE ꜰF ᴊJ ᴋK ᴍM ᴏO ᴘP ꜱS ᴛT ᴜU ᴠV ᴡW ᴢZ'
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);

/**
 * Removes case, accents and compatibility forms such as full-width letters, and maps letters of other alphabets to the
 * Latin letters that they look like, because keyboards mix them ("Cтоп"). Letters that stand three times or more
 * ("STOOOP") become one.
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
