/** The words by which people take back and give consent to SMS, those of carriers and of common languages. */

/** These mean "stop" wherever one is a sentence of its own. */
const STOP_WORDS = wordsOf(`
  STOP STOPALL STOPP UNSUBSCRIBE UNSUB OPTOUT REVOKE
  ARRET ARRETER ARRETEZ DESABONNER DESABONNEMENT DESINSCRIRE DESINSCRIPTION ABMELDEN ABBESTELLEN AUSTRAGEN STOPPEN AFMELDEN
  UITSCHRIJVEN BAJA ALTO DETENER PARAR SAIR BASTA DISISCRIVIMI AVSLUTA FRAMELD AFMELD LOPETA REZYGNUJE WYPISZ IPTAL RET
  СТОП ОТПИСАТЬСЯ ОТПИСКА 停止 退订 退訂 TD 配信停止 수신거부 إيقاف`);
/** These have other meanings too, so they count only where the message says nothing else. */
const AMBIGUOUS_STOP_WORDS = wordsOf('CANCEL CANCELAR ANNULER ANNULLA KUNDIGEN END ENDE QUIT REMOVE FIN');
const START_WORDS = wordsOf('START UNSTOP YES SUBSCRIBE OPTIN RESUME');
/** Words that people put beside one of these without changing it. */
const POLITE_WORDS = wordsOf(`
  PLEASE PLS PLZ THANKS THANK THX TY YOU NOW IT THIS ALL ME BITTE DANKE MERCI SVP STP GRACIAS POR FAVOR GRAZIE OBRIGADO
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
  const text = body.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC').toUpperCase();
  // Quotes and hyphens stand inside sentences; every other sign ends one.
  const sentences = text
    .split(/[^\p{L}\p{N} \t\u00A0'’‘"“”„«»‐-―_-]+/u)
    .map((sentence) => sentence.match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((words) => words.length > 0);
  if (sentences.some((words) => isStop(words, STOP_WORDS))) return 'stop';
  const meant = sentences.flat();
  if (isStop(meant, AMBIGUOUS_STOP_WORDS)) return 'stop';
  return isOnly(meant, START_WORDS) ? 'start' : undefined;
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
  return new Set(list.trim().split(/\s+/));
}
