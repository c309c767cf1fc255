/**
 * Accepted values of a consent column in a CSV file. The list is closed: any other word is an error of its row,
 * because a guess would subscribe a person who refused, or unsubscribe a whole list.
 */
const YES = `
  y yes true t 1 on x ok subscribed subscribe active optedin optin doubleoptin confirmed enabled allowed granted given
  consented consent accepted agreed enrolled
  abonnee inscrite suscrita inscrita iscritta activa attiva ativa dogru igaz taip jah
  ja j wahr aktiv angemeldet abonniert waar actief oui vrai abonne inscrit actif si s verdadero activo suscrito vero attivo
  iscritto sim verdadeiro ativo inscrito da да д истина tak prawda ano igen evet ναι kylla joo aktiivinen sant так jā ya co はい 是 예 네 نعم כן हाँ ใช่`;
const NO = `
  n no false f 0 off falsk falsz yanlis epatosi ingen tidak nahin нет н ні nein falsch nee onwaar non faux falso nao
  ложь nie ne nem hayir hayır οχι ei nej nei falskt nu khong いいえ 否 不 아니요 아니오 لا לא नहीं ไม่`;
/** Words for the state of a person who refused. Such words also occur in columns for consent. */
const REFUSED = `
  unsubscribed unsubscribe unsub inactive notsubscribed nonsubscribed neversubscribed notactive notoptedin optedout optout disabled denied
  declined refused rejected revoked withdrawn blocked bounced cleaned
  complained complaint suppressed blacklisted blocklisted removed junk spam cancelled canceled unconfirmed notconfirmed
  desabonnee desinscrite disiscritta inactiva disattiva inativa
  inaktiv abgemeldet abbestellt nichtabonniert nichtangemeldet inactief nietingeschreven desabonne desinscrit pasinscrit noninscrit nonabonne inactif
  inactivo nosuscrito nosubscrito disattivo inattivo disiscritto noniscritto inativo naoinscrito`;

const YES_WORDS = parseWords(YES);
const NO_WORDS = parseWords(NO);
const REFUSED_WORDS = parseWords(REFUSED);
/** Symbols that spreadsheets and forms write instead of a word. */
const YES_SIGNS = new Set(['✓', '✔', '☑', '✅']);
const NO_SIGNS = new Set(['✗', '✘', '☐', '❌']);

/**
 * Reads a cell of a consent column: true for consent, false for a refusal, undefined for an unknown word. Ignores case,
 * spaces, hyphens and accents.
 */
export function readConsent(cell: string): boolean | undefined {
  const sign = cell.trim().replaceAll('\uFE0F', '');
  if (YES_SIGNS.has(sign)) return true;
  if (NO_SIGNS.has(sign)) return false;
  const word = normalizeWord(cell);
  if (YES_WORDS.has(word)) return true;
  return NO_WORDS.has(word) || REFUSED_WORDS.has(word) ? false : undefined;
}

/**
 * Tells whether a cell of a column such as `Status` contains the state of a subscription, and not of something else
 * such as an order.
 */
export function isSubscriptionState(cell: string): boolean {
  return /^(?:(?:un|non|not|never)[\s_-]?)?subscribed$/i.test(cell.trim());
}

/**
 * Tells whether a cell of a column such as `Unsubscribed` or `UNSUB_TIME` records a refusal. Any text is a refusal,
 * such as a time or a reason, except a word for "no" or for an empty value.
 */
export function isRefusal(cell: string): boolean {
  const text = cell.trim();
  // MySQL writes a missing time as zeros.
  if (/^0000-00-00/.test(text)) return false;
  if (/^(?:|[-–—]|\[\]|n\/a|null|none|never)$/i.test(text) || NO_SIGNS.has(text)) return false;
  return !NO_WORDS.has(normalizeWord(text));
}

/** Reduces a text to its letters and digits in lower case, so that "Opted-In" and "opted in" are equal. */
function normalizeWord(text: string): string {
  // A text with a sign next to a digit, or with a question mark, is not reduced: -1 and 1.0 are not 1, and "yes?" is
  // not "yes".
  if (/\d[.,]\d|[^\s\p{L}\p{N}"']\d|[?？؟]/u.test(text)) return text;
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .normalize('NFKC');
}

function parseWords(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/).map(normalizeWord));
}
