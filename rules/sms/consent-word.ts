/** Words by which people withdraw and give consent to SMS, as used by carriers and in common languages. */

/** Words that mean "stop" if they are a whole sentence. */
const STOP_WORDS = wordsOf(`
  STOP STOPALL STOPP STOPSMS STOPMSG STOPTEXT STOP2END UNSUBSCRIBE UNSUBSCRIBED UNSUB UNSUSCRIBE UNSUBCRIBE UNSUBSRIBE OPTOUT REVOKE
  ARRET ARRETER ARRETEZ DESABONNER DESABONNEMENT DESINSCRIRE DESINSCRIPTION SEDESINSCRIRE ABMELDEN ABBESTELLEN AUSTRAGEN STOPPEN AFMELDEN
  UITSCHRIJVEN BAJA DARMEDEBAJA DARDEBAJA DEMEDEBAJA ALTO DETENER PARAR SAIR DESCADASTRAR BASTA FERMARE CANCELLAMI RIMUOVIMI DISISCRIVIMI AVSLUTA
  AVREGISTRERA AVMELD AVMELDING FRAMELD FRAMELDING AFMELD STOPPA SLUTT LOPETA PERUUTA REZYGNUJE WYPISZ ZATRZYMAJ ODHLASIT ODJAVA LEIRATKOZAS LEIRATKOZOM DEZABONARE DEZABONEZ IPTAL CIKIS
  RET BERHENTI TUCHOI HUY СТОП ОТПИСАТЬСЯ ОТПИСКА ОТПИШИТЕ ОТПИШИ ВІДПИСАТИСЯ ВІДПИСКА ΣΤΟΠ ΔΙΑΓΡΑΦΗ הסר הסירו 停止 停止してください 取消订阅 取消訂閱 退订 退訂 TD T退订 退订T 退订回T 配信停止 ストップ 解除 수신거부 정지 중지 ยกเลิก إيقاف توقف الغاءالاشتراك हटाओ बंदकरो`);
/** Words with other meanings, which count only if the message says nothing else. */
const AMBIGUOUS_STOP_WORDS = wordsOf(
  'CANCEL CANCELAR CANCELLA ANNULER ANNULLA RIMUOVI PARE PARA KUNDIGEN END ENDE QUIT REMOVE FIN FERMER ZRUSIT KONIEC DUR الغاء キャンセル',
);
const ANY_STOP_WORDS: ReadonlySet<string> = new Set([...STOP_WORDS, ...AMBIGUOUS_STOP_WORDS]);
const START_WORDS = wordsOf('START UNSTOP SUBSCRIBE OPTIN RESUME');
/** Carriers treat it as START. "Yes please" replies to a question, so YES counts only alone. */
const YES = 'YES';
/** Polite words that do not change the meaning. */
const POLITE_WORDS = wordsOf(`
  PLEASE PLS PLZ THANKS THANK THX TY YOU NOW IT THIS ALL ME OK OKAY JUST BITTE DANKE MERCI SVP STP GRACIAS POR FAVOR GRAZIE OBRIGADO
  OBRIGADA TAK TACK TAKK PER FAVORE AUB ALSTUBLIEFT DANK MNIE PROSZE PROSIM KIITOS LUTFEN МЕНЯ МЕНЕ ПОЖАЛУЙСТА СПАСИБО HI HEY HELLO
  BYE ALLE ALLES TOUT TODO SMS`);
/** Requests in a sentence, such as "stop texting me": FCC 47 CFR 64.1200(a)(10) asks to honor any reasonable one. */
const STOP_MESSAGES: readonly RegExp[] = [
  /^(?:(?:NO|YES|OK|NO THANKS|NO THANK YOU|I SAID) )?(?:PLEASE )?(?:I (?:WANT|WISH|WOULD LIKE|D LIKE|NEED) TO )?(?:STOP|QUIT|UNSUBSCRIBE|REMOVE|OPT)(?: (?:TEXTING|MESSAGING|SENDING|CONTACTING|SPAMMING|BOTHERING|HARASSING|MARKETING|ADVERTISING|SPAM|ADS|ADVERTS|PROMOS?|PROMOTIONS?|PROMOTIONAL|OFFERS|ALERTS|NOTIFICATIONS|NEWSLETTERS?|MSGS?|NOW|AND|STOP|UNSUBSCRIBE|ME|MY|NUMBER|OUT|FROM|YOUR|THE|THESE|THIS|TEXTS|TEXT|MESSAGES|MESSAGE|SMS|LIST|ANYMORE|PLEASE|ALL|TO|US|IT))*$/,
  /^(?:PLEASE )?(?:DO NOT|DONT|DON T|NEVER) (?:TEXT|SMS|MESSAGE|CONTACT|CALL)(?: (?:ME|US|THIS NUMBER))?(?: (?:AGAIN|ANYMORE|ANY MORE|EVER|PLEASE))*$/,
  /^(?:PLEASE )?NO MORE (?:TEXTS?|MESSAGES?|SMS)(?: (?:PLEASE|THANKS|THANK YOU))*$/,
  /^(?:PLEASE )?(?:TAKE|GET) ME OFF (?:YOUR|THE|THIS) LIST$|^(?:PLEASE )?(?:DELETE|REMOVE|ERASE) MY NUMBER$|^LEAVE ME ALONE$|^(?:PLEASE )?DELETE ME$/,
  /^(?:PLEASE )?(?:I )?REVOKE (?:MY |ALL )?CONSENT$|^(?:PLEASE )?CANCEL (?:MY |THE |THIS )?SUBSCRIPTION$/,
  /^(?:REPLY |SEND |TXT |TEXT )?STOP(?: (?:TO )?\d{3,})?$|^STOP OR (?:END|CANCEL|QUIT|UNSUBSCRIBE)$/,
  /^(?:BITTE )?(?:STOPP? (?:BITTE )?(?:KEINE |DER |DIE |MIT )?|KEINE )(?:SMS|WERBUNG|NACHRICHTEN|WERBE SMS)(?: MEHR)?(?: BITTE)?$/,
  /^(?:BITTE )?NICHT MEHR SCHREIBEN$|^(?:YA )?NO (?:QUIERO |MAS )+(?:MENSAJES|SMS)$|^CANCELAR (?:MI |LA )?SUSCRIPCION$/,
  /^(?:PARE|PAREM) DE (?:ENVIAR|MANDAR)(?: (?:MENSAGENS|SMS))?$|^ANNULLA (?:L )?(?:ISCRIZIONE|ABBONAMENTO)$|^NE M?ENVOYEZ PLUS DE (?:SMS|MESSAGES)$/,
];
/** A stop sign emoji without words. */
const STOP_SIGN = /^\s*(?:[🛑⛔🚫](?:\uFE0F|\s)*)+$/u;

/**
 * Tells whether a received message takes back or gives consent. A stop word counts as a sentence of its own ("Stop.
 * Thank you"), whatever its case, accents, quotes and emoji; in a longer sentence ("please stop by at eight") it means
 * something else. A start word counts only alone: a wrong START would undo a refusal.
 */
export function consentWord(body: string): 'stop' | 'start' | undefined {
  if (STOP_SIGN.test(body)) return 'stop';
  const text = foldCase(body);
  // Quotes, hyphens and symbols that join words ("Stop & Shop") belong to a sentence; every other symbol ends it.
  const sentences = text
    .split(/[^\p{L}\p{N} \t\u00A0'’‘"“”„«»‐-―_&+/@-]+/u)
    .map((sentence) => sentence.match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((words) => words.length > 0);
  if (sentences.some((words) => isStop(words, STOP_WORDS))) return 'stop';
  const meant = sentences.flat();
  // "S.T.O.P." is one word.
  if (isStop(meant, ANY_STOP_WORDS)) return 'stop';
  return isOnly(meant, START_WORDS) || meant.join(' ') === YES ? 'start' : undefined;
}

function isStop(words: string[], stopWords: ReadonlySet<string>): boolean {
  return isOnly(words, stopWords) || STOP_MESSAGES.some((pattern) => pattern.test(words.join(' ')));
}

/** Tells whether the words are one of the set ("OPT OUT" is OPTOUT), with or without polite words. */
function isOnly(words: readonly string[], set: ReadonlySet<string>): boolean {
  if (set.has(words.join(''))) return true;
  const meant = words.filter((word) => !POLITE_WORDS.has(word));
  return meant.length > 0 && (set.has(meant.join('')) || meant.every((word) => set.has(word)));
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(foldCase(list).trim().split(/\s+/));
}

/** Removes case, accents and compatibility forms such as full-width letters. */
function foldCase(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC').toUpperCase();
}
