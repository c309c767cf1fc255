/** Words by which people withdraw and give consent to SMS, as used by carriers and in common languages. */

/** Words that mean "stop" if they are a whole sentence. */
const STOP_WORDS = wordsOf(`
  STOP ST0P STOPALL STOPP STOPSMS STOPMSG STOPTEXT STOPTEXTS STOPTEXTING STOPBULK STOP2END STOP2QUIT ARRETSMS ENDSMS UNSUBSCRIBE UNSUBSCRIBED UNSUB UNSUSCRIBE
  UNSUBCRIBE UNSUBSCIBE UNSUBSRIBE UNREG OPTOUT OPTEDOUT OPTINGOUT REVOKE DND
  ARRET ARRETER ARRETEZ DESABONNER DESABONNEMENT DESABONNEZ DESINSCRIRE DESINSCRIPTION DESINSCRIVEZ SEDESINSCRIRE RESILIER RESILIATION
  ABMELDEN ABMELDUNG ABBESTELLEN ABBESTELLUNG AUSTRAGEN STOPPEN AUFHOREN WIDERRUF WIDERRUFEN
  AFMELDEN UITSCHRIJVEN OPZEGGEN BAJA DARMEDEBAJA DARDEBAJA DARSEDEBAJA DAMEDEBAJA DEMEDEBAJA ALTO DETENER PARAR SAIR DESCADASTRAR DESCADASTRE
  BASTA FERMARE CANCELLAMI RIMUOVIMI DISISCRIVI DISISCRIVIMI DISISCRIVERMI DISATTIVA AVSLUTA AVSLUTT AVREGISTRERA AVPRENUMERERA AVMELD AVMELDING
  FRAMELD FRAMELDING AFMELD AFMELDING STOPPA SLUTA SLUTT LOPETA PERUUTA POISTA REZYGNUJE REZYGNACJA WYPISZ ZATRZYMAJ ODHLASIT ODHLASTE ZASTAVIT
  ODJAVA ODJAVI ODJAVITE PREKINI LEIRATKOZAS LEIRATKOZOM DEZABONARE DEZABONEZ DEZABONEAZA DEZABONATI OPRESTE OPRITI ATSISAKAU IPTAL CIKIS DURDUR
  BERHENTI TUCHOI HUY DUNG СТОП ОТПИСАТЬСЯ ОТПИСАТЬ ОТПИСКА ОТПИШИТЕ ОТПИШИ ПРЕКРАТИТЕ ХВАТИТ ОТКАЗ СПРИ ВІДПИСАТИСЯ ВІДПИСКА ВІДПИШІТЬ ВІДМОВА
  ΣΤΟΠ ΔΙΑΓΡΑΦΗ ΔΙΑΚΟΠΗ ΑΚΥΡΩΣΗ הסר הסרה הסירו הסירואותי הסראותי עצור 停止 停止してください 取消订阅 取消訂閱 退订 退訂 拒收 TD T退订 T退訂 退訂T 退订T 退订回T 回T退订 配信停止 ストップ 解除 수신거부 정지 중지 그만
  ยกเลิก หยุด إيقاف ايقاف توقف قف الغاءالاشتراك हटाओ बंदकरो बंद रोकें रोको বন্ধ நிறுத்து`);
/** Words with other meanings, which count only if the message says nothing else. */
const AMBIGUOUS_STOP_WORDS = wordsOf(
  `CANCEL CANCELAR CANCELLA CANCELLARE ANNULER ANNULEREN ANNULLA ANULUJ ANULARE RENUNT RIMUOVI REMOVER ELIMINAR SALIR PARE PARA KUNDIGEN KUNDIGUNG LOSCHEN
  END ENDE QUIT REMOVE FIN FERMER FERMA CHEGA AVBRYT ZRUSIT KONEC KONIEC ALLJ BATAL DUR RET AYRIL ОТМЕНА ОТМЕНИТЬ الغاء キャンセル やめて 取消 거부 די`,
);
const ANY_STOP_WORDS: ReadonlySet<string> = new Set([...STOP_WORDS, ...AMBIGUOUS_STOP_WORDS]);
const START_WORDS = wordsOf('START STARTALL UNSTOP SUBSCRIBE RESUBSCRIBE OPTIN RESUME ANMELDEN СТАРТ スタート');
/** Carriers treat it as START. "Yes please" replies to a question, so YES counts only alone. */
const YES = 'YES';
/** Polite words that do not change the meaning. */
const POLITE_WORDS = wordsOf(`
  PLEASE PLS PLZ KINDLY THANKS THANK THX TY YOU U CHEERS MANY NOW RIGHT IMMEDIATELY FOREVER IT THIS ALL ME OK OKAY JUST BITTE SOFORT DANKE MFG MERCI
  BEAUCOUP SVP STP GRACIAS POR FAVOR GRAZIE OBRIGADO OBRIGADA TAK TACK TAKK VENLIGST PER FAVORE AUB ALSTUBLIEFT DANK MNIE PROSZE PROSIM KIITOS LUTFEN
  МЕНЯ МЕНЕ ПОЖАЛУЙСТА СПАСИБО БУДЬ ЛАСКА HI HEY HELLO BYE ALLE ALLES TOUT TODO MIG MEG MICH MOI ET ETTIRIN MA LIST SMS करो`);
/** Requests in a sentence, such as "stop texting me": FCC 47 CFR 64.1200(a)(10) asks to honor any reasonable one. */
const STOP_MESSAGES: readonly RegExp[] = [
  /^(?:(?:NO|NOPE|YES|OK|SORRY|NO THANKS|NO THANK YOU|I SAID|NOT INTERESTED|NO LONGER INTERESTED|WRONG NUMBER|WRONG PERSON|WHO IS THIS|SPAM) )?(?:(?:PLEASE|PLS|PLZ|KINDLY|JUST|FUCK OFF|(?:CAN|COULD|WILL|WOULD) (?:YOU|U)) )*(?:I (?:WANT|WISH|WOULD LIKE|D LIKE|NEED) TO |I )?(?:STOP|QUIT|UNSUBSCRIBE|REMOVE|OPT)(?: (?:TEXTING|MESSAGING|SENDING|CONTACTING|CALLING|SPAMMING|BOTHERING|HARASSING|MARKETING|ADVERTISING|SPAM|ADS|ADVERTS|PROMOS?|PROMOTIONS?|PROMOTIONAL|OFFERS|ALERTS|NOTIFICATIONS|NEWSLETTERS?|SUBSCRIPTION|SERVICE|MSGS?|NOW|RIGHT NOW|IMMEDIATELY|FOREVER|FOR GOOD|AND|STOP|UNSUBSCRIBE|ME|MY|NUMBER|OUT|FROM|YOUR|THE|THESE|THIS|TEXTS|TEXT|MESSAGES|MESSAGE|SMS|LIST|ANYMORE|PLEASE|ALL|TO|US|IT))*$/,
  /^(?:PLEASE )?(?:DO NOT|DONT|DON T|NEVER) (?:TEXT|SMS|MESSAGE|CONTACT|CALL|SEND(?: ME| US| ANY| MORE)* (?:TEXTS?|MESSAGES?|SMS))(?: (?:ME|US|THIS NUMBER))?(?: (?:AGAIN|ANYMORE|ANY MORE|EVER|PLEASE))*$/,
  /^(?:PLEASE )?(?:(?:I )?(?:DO NOT|DONT|DON T) WANT (?:ANY |THESE |YOUR )?|NO )(?:MORE )?(?:TEXTS?|MESSAGES?|SMS|MARKETING|SPAM)(?: ANYMORE)?(?: (?:PLEASE|THANKS|THANK YOU))*$/,
  /^(?:PLEASE )?(?:TAKE|GET) ME OFF(?: (?:YOUR|THE|THIS) LIST)?$|^(?:PLEASE )?(?:DELETE|REMOVE|ERASE|LOSE) (?:MY|THIS) NUMBER(?: FROM (?:YOUR|THE|THIS) LIST)?$|^LEAVE ME ALONE$|^(?:PLEASE )?DELETE ME$/,
  /^(?:PLEASE )?(?:I )?REVOKE (?:MY |ALL )?CONSENT$|^(?:PLEASE )?(?:CANCEL|STOP|END) (?:MY |THE |THIS )?SUBSCRIPTION$|^HOW (?:DO|CAN) I (?:UNSUBSCRIBE|OPT OUT|STOP (?:THESE|THIS)(?: (?:TEXTS|MESSAGES|SMS))?)$/,
  /^(?:REPLY |SEND |TXT |TEXT )?STOP(?:SMS)?(?: (?:TO |AU |AN )?\d{3,})?$|^STOP (?:OR|TO) (?:END|CANCEL|QUIT|UNSUBSCRIBE)$/,
  /^(?:BITTE )?(?:STOPP? (?:BITTE )?(?:KEINE |DER |DIE |MIT )?|KEINE )(?:SMS|WERBUNG|NACHRICHTEN|WERBE SMS)(?: MEHR)?(?: (?:SENDEN|SCHICKEN|SCHREIBEN))?(?: BITTE)?$/,
  /^(?:BITTE )?(?:SCHICK(?:T|EN SIE)?|SEND(?:ET|EN SIE)?) MIR (?:BITTE )?KEINE (?:SMS|WERBUNG|NACHRICHTEN)(?: MEHR)?(?: BITTE)?$|^(?:ICH (?:MOCHTE|WILL) )?(?:MICH |DEN NEWSLETTER |NEWSLETTER |SMS )+(?:ABMELDEN|ABBESTELLEN|AUSTRAGEN)$|^ICH WIDERRUFE(?: MEINE EINWILLIGUNG)?$/,
  /^(?:BITTE )?NICHT MEHR (?:SCHREIBEN|KONTAKTIEREN|ANRUFEN)$|^(?:YA )?NO (?:QUIERO |RECIBIR |DESEO |MAS )+(?:MENSAJES|SMS|PUBLICIDAD)?$|^NO (?:ME )?ENVI(?:AR|EN|E|ES) MAS(?: (?:MENSAJES|SMS))?$|^(?:QUIERO )?(?:DARME|DARSE|DAME|DEME) DE BAJA(?: POR FAVOR)?$|^CANCELAR (?:MI |LA )?SUSCRIPCION$/,
  /^(?:PARE|PAREM) DE (?:ME )?(?:ENVIAR|MANDAR)(?: (?:MENSAGENS|SMS))?$|^NAO QUERO (?:MAIS|RECEBER)(?: (?:RECEBER|MENSAGENS|SMS|MAIS))*$|^ANNULLA (?:L )?(?:ISCRIZIONE|ABBONAMENTO)$|^NE M?ENVOYEZ PLUS DE (?:SMS|MESSAGES)$/,
  /^(?:JE (?:VEUX|VOUDRAIS|SOUHAITE) )?ME (?:DESABONNER|DESINSCRIRE)(?: SVP)?$|^(?:ARRETEZ|CESSEZ) DE M ENVOYER (?:DES|VOS) (?:SMS|MESSAGES)(?: SVP)?$|^MERCI DE STOPPER$|^PLUS DE (?:SMS|MESSAGES|PUB)(?: (?:SVP|MERCI))?$|^STOP (?:LA |LES |AUX? |A LA )?(?:PUBS?|PUBLICITE|SMS|MESSAGES)$/,
  /^(?:STOP (?:ER)?MEE?|STOP MET (?:SMS|BERICHTEN|SMSEN)|(?:STUUR )?GEEN (?:SMS|BERICHTEN|RECLAME) MEER)(?: AUB)?$|^MELD MEG AV$|^НЕ БЕСПОКОИТЬ$|^НЕ ПРИСЫЛАЙТЕ(?: БОЛЬШЕ)?(?: (?:СМС|SMS|СООБЩЕНИЯ))?$/,
];
/** A stop sign emoji without words. */
const STOP_SIGN = /^\s*(?:[🛑⛔🚫](?:\uFE0F|\s)*)+$/u;
/** The line that a telephone adds to a message. */
const SIGNATURE =
  /\s(?:--|sent from my |von meinem .{1,30} gesendet|envoy[ée] de mon |enviado desde mi |inviato da ).*$/isu;

/**
 * Tells whether a received message takes back or gives consent. A stop word counts as a sentence of its own ("Stop.
 * Thank you"), whatever its case, accents, quotes and emoji; in a longer sentence ("please stop by at eight") it means
 * something else. A start word counts only alone: a wrong START would undo a refusal.
 */
export function consentWord(body: string): 'stop' | 'start' | undefined {
  if (STOP_SIGN.test(body)) return 'stop';
  // "s.v.p." is one word, and a dash between blanks separates sentences ("STOP - Ada").
  const text = foldCase(body.replace(SIGNATURE, ''))
    .replaceAll(/(?<!\p{L})(?:\p{L}\.){2,}/gu, (letters) => `${letters.replaceAll('.', '')}.`)
    .replaceAll(/\s[-‐-―]+\s/gu, '.');
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
