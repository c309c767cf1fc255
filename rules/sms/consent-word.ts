/** Words by which people withdraw and give consent to SMS, as used by carriers and in common languages. */

/** These mean "stop" wherever one is a sentence of its own. */
const STOP_WORDS = wordsOf(`
  STOP STOPALL STOPP UNSUBSCRIBE UNSUBSCRIBED UNSUB OPTOUT REVOKE
  ARRET ARRETER ARRETEZ DESABONNER DESABONNEMENT DESINSCRIRE DESINSCRIPTION ABMELDEN ABBESTELLEN AUSTRAGEN STOPPEN AFMELDEN
  UITSCHRIJVEN BAJA ALTO DETENER PARAR SAIR DESCADASTRAR BASTA FERMARE CANCELLAMI RIMUOVIMI DISISCRIVIMI AVSLUTA
  AVREGISTRERA FRAMELD AFMELD LOPETA REZYGNUJE WYPISZ ODHLASIT ODJAVA LEIRATKOZAS LEIRATKOZOM DEZABONARE DEZABONEZ IPTAL
  RET BERHENTI TUCHOI СТОП ОТПИСАТЬСЯ ОТПИСКА ΣΤΟΠ ΔΙΑΓΡΑΦΗ הסר 停止 退订 退訂 TD 配信停止 수신거부 ยกเลิก إيقاف توقف`);
/** These have other meanings too, so they count only where the message says nothing else. */
const AMBIGUOUS_STOP_WORDS = wordsOf(
  'CANCEL CANCELAR CANCELLA ANNULER ANNULLA RIMUOVI PARE PARA KUNDIGEN END ENDE QUIT REMOVE FIN',
);
const START_WORDS = wordsOf('START UNSTOP SUBSCRIBE OPTIN RESUME');
/** Carriers take it as START. "Yes please" answers a question, so it counts only alone. */
const YES = 'YES';
/** Words that people put beside one of these without changing it. */
const POLITE_WORDS = wordsOf(`
  PLEASE PLS PLZ THANKS THANK THX TY YOU NOW IT THIS ALL ME OK OKAY JUST BITTE DANKE MERCI SVP STP GRACIAS POR FAVOR GRAZIE OBRIGADO
  OBRIGADA TAK TACK`);
/** The words that follow "stop" in "stop texting me": FCC 47 CFR 64.1200(a)(10) asks to honor any reasonable request. */
const STOP_MESSAGES =
  /^(?:PLEASE )?(?:STOP|QUIT|UNSUBSCRIBE|REMOVE|OPT)(?: (?:TEXTING|MESSAGING|SENDING|CONTACTING|ME|MY|NUMBER|OUT|FROM|YOUR|THE|THESE|THIS|TEXTS|TEXT|MESSAGES|MESSAGE|SMS|LIST|ANYMORE|PLEASE|ALL|TO|US|IT))+$/;

/**
 * Tells whether a received message takes back or gives consent. A stop word counts as a sentence of its own ("Stop.
 * Thank you"), whatever its case, accents, quotes and emoji; in a longer sentence ("please stop by at eight") it means
 * something else. A start word counts only alone: a wrong START would undo a refusal.
 */
export function consentWord(body: string): 'stop' | 'start' | undefined {
  const text = foldCase(body);
  // Quotes and hyphens stand inside sentences; every other sign ends one.
  const sentences = text
    .split(/[^\p{L}\p{N} \t\u00A0'’‘"“”„«»‐-―_-]+/u)
    .map((sentence) => sentence.match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((words) => words.length > 0);
  if (sentences.some((words) => isStop(words, STOP_WORDS))) return 'stop';
  const meant = sentences.flat();
  // "S.T.O.P." is one word.
  if (isStop(meant, AMBIGUOUS_STOP_WORDS) || STOP_WORDS.has(meant.join(''))) return 'stop';
  return isOnly(meant, START_WORDS) || meant.join(' ') === YES ? 'start' : undefined;
}

function isStop(words: string[], stopWords: ReadonlySet<string>): boolean {
  return isOnly(words, stopWords) || STOP_MESSAGES.test(words.join(' '));
}

/** Whether the words are one of the set ("OPT OUT" is OPTOUT), and polite words beside it. */
function isOnly(words: readonly string[], set: ReadonlySet<string>): boolean {
  if (set.has(words.join(''))) return true;
  const meant = words.filter((word) => !POLITE_WORDS.has(word));
  return meant.length > 0 && (set.has(meant.join('')) || meant.every((word) => set.has(word)));
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(foldCase(list).trim().split(/\s+/));
}

/** Without case, accents and compatibility forms such as full-width letters. */
function foldCase(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC').toUpperCase();
}
