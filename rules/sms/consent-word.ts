/** Words by which people withdraw and give consent to SMS, as used by carriers and in common languages. */

/** Letters and the Latin letters that they look like. `foldCase` maps both the words below and the received text. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  'АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ЅS ІI ЈJ ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ᴀA ʙB ᴄC ᴅD ᴇE ꜰF ᴊJ ᴋK ᴍM ᴏO ᴘP ꜱS ᴛT ᴜU ᴠV ᴡW ᴢZ'
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);

/** Words that mean "stop" if they are a whole sentence. */
const STOP_WORDS = wordsOf(`
  STOP ST0P SOTP STPO STOPT STOPED STOPPED STOPALL STOPP STOPSMS STOPMSG STOPTEXT STOPTEXTS STOPTEXTING STOPBULK STOP2END STOP2QUIT ARRETSMS ENDSMS UNSUBSCRIBE UNSUBSCRIBED UNSUB UNSUSCRIBE
  UNSUBCRIBE UNSUBSCIBE UNSUBSRIBE UNREG OPTOUT OPTEDOUT OPTINGOUT REVOKE DND
  ARRET ARRETER ARRETEZ DESABONNER DESABONNEMENT DESABONNEZ DESINSCRIRE DESINSCRIPTION DESINSCRIVEZ SEDESINSCRIRE RESILIER RESILIATION
  ABMELDEN ABMELDUNG ABBESTELLEN ABBESTELLUNG AUSTRAGEN STOPPEN AUFHOREN WIDERRUF WIDERRUFEN
  AFMELDEN UITSCHRIJVEN OPZEGGEN DESUSCRIBIR DESUSCRIBIRME DESUSCRIBIRSE BAJA DARMEDEBAJA DARDEBAJA DARSEDEBAJA DAMEDEBAJA DEMEDEBAJA ALTO DETENER PARAR SAIR DESCADASTRAR DESCADASTRE DESINSCREVER DESINSCREVERME REMOVAME PAREM
  BASTA SMETTILA SMETTETELA FERMARE CANCELLAMI RIMUOVIMI DISISCRIVI DISISCRIVIMI DISISCRIVERMI DISATTIVA AVSLUTA AVSLUTT AVREGISTRERA AVPRENUMERERA AVMELD AVMELDING
  FRAMELD FRAMELDING AFMELD AFMELDING STOPPA SLUTA SLUTT LOPETA PERUUTA POISTA REZYGNUJE REZYGNACJA WYPISZ ZATRZYMAJ ODHLASIT ODHLASTE ZASTAVIT
  ODJAVA ODJAVI ODJAVITE PREKINI LEIRATKOZAS LEIRATKOZOM DEZABONARE DEZABONEZ DEZABONEAZA DEZABONATI OPRESTE OPRITI ATSISAKAU IPTAL CIKIS DURDUR
  BERHENTI TUCHOI HUY DUNG СТОП ОТПИСАТЬСЯ ОТПИСАТЬ ОТПИСКА ОТПИШИТЕ ОТПИШИ ПРЕКРАТИТЕ ХВАТИТ ОТКАЗ СПРИ ВІДПИСАТИСЯ ВІДПИСКА ВІДПИШІТЬ ВІДМОВА ОТПИШИТЕСЬ ПРИПИНІТЬ ΣΤΑΜΑΤΑ ΣΤΑΜΑΤΗΣΤΕ
  ΣΤΟΠ ΔΙΑΓΡΑΦΗ ΔΙΑΚΟΠΗ ΑΚΥΡΩΣΗ הסר הסרה להסיר הפסק הפסיקו תפסיקו הסירו הסירואותי הסראותי עצור 停止 停止してください 中止 回T 回TD 取消订阅 取消訂閱 退订 退訂 拒收 TD T退订 T退訂 退訂T 退订T 退订回T 回T退订 配信停止 ストップ 解除 수신거부 정지 중지 그만
  ยกเลิก หยุด เลิก إيقاف ايقاف أوقف اوقف توقف قف الغاءالاشتراك हटाओ बंदकरो बंद रोकें रोको বন্ধ স্টপ रद्द நிறுத்து`);
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
/** Requests in an English sentence, such as "stop texting me": FCC 47 CFR 64.1200(a)(10) asks to honor any reasonable one. */
const STOP_MESSAGES: readonly RegExp[] = [
  /^(?:(?:NO|NOPE|YES|OK|SORRY|NO THANKS|NO THANK YOU|I SAID|NOT INTERESTED|NO LONGER INTERESTED|(?:YOU HAVE THE )?WRONG NUMBER|WRONG PERSON|WHO IS THIS|SPAM) )?(?:(?:PLEASE|PLS|PLZ|KINDLY|JUST|FUCK OFF|(?:CAN|COULD|WILL|WOULD) (?:YOU|U)) )*(?:I (?:WANT|WISH|WOULD LIKE|D LIKE|NEED) TO |I )?(?:STOP|QUIT|UNSUBSCRIBE|REMOVE|OPT)(?: (?:TEXTING|TXTING|MESSAGING|SENDING|RECEIVING|GETTING|CONTACTING|CALLING|SPAMMING|BOTHERING|HARASSING|MARKETING|ADVERTISING|SPAM|ADS|ADVERTS|PROMOS?|PROMOTIONS?|PROMOTIONAL|OFFERS|ALERTS|UPDATES|NOTIFICATIONS|NEWSLETTERS?|SUBSCRIPTION|SERVICE|MSGS?|NOW|RIGHT NOW|IMMEDIATELY|FOREVER|FOR GOOD|AND|STOP|UNSUBSCRIBE|ME|MY|NUMBER|OUT|OF|FROM|YOUR|THE|THESE|THIS|THAT|TEXTS|TEXT|TXTS?|MESSAGES|MESSAGE|SMS|STUFF|CRAP|SHIT|BULLSHIT|DAMN|FUCKING|LIST|ANYMORE|PLEASE|ALL|TO|US|IT))*$/,
  /^(?:PLEASE )?(?:DO NOT|DONT|DON T|NEVER) (?:TEXT|TXT|SMS|MSG|MESSAGE|CONTACT|CALL|SEND(?: ME| US| ANY| MORE| THESE)* (?:TEXTS?|MESSAGES?|SMS))(?: (?:ME|US|THIS NUMBER))?(?: (?:AGAIN|ANYMORE|ANY MORE|EVER|PLEASE))*$/,
  /^(?:PLEASE )?(?:(?:I )?(?:(?:DO NOT|DONT|DON T|NO LONGER) (?:WANT|WISH)|DO NOT CARE)(?: TO (?:RECEIVE|GET))? (?:ANY |THESE |YOUR )?|NO )(?:MORE |FURTHER )?(?:TEXTS?|TXTS?|MESSAGES?|MSGS?|SMS|MARKETING|SPAM)(?: (?:ANYMORE|ANY MORE|FROM YOU))*(?: (?:PLEASE|THANKS|THANK YOU))*$/,
  /^(?:PLEASE )?(?:TAKE|GET) (?:ME|MY NUMBER|THIS NUMBER) OFF(?: (?:OF )?(?:YOUR|THE|THIS) LIST)?$|^(?:PLEASE )?(?:DELETE|REMOVE|ERASE|LOSE) (?:MY|THIS) NUMBER(?: FROM (?:YOUR|THE|THIS) LIST)?$|^LEAVE ME ALONE$|^(?:PLEASE )?DELETE ME$/,
  /^(?:PLEASE )?(?:I )?(?:HEREBY )?REVOKE (?:MY |ALL )?CONSENT$|^(?:PLEASE )?(?:CANCEL|STOP|END)(?: (?:ALL|MY|THE|THESE|THIS|YOUR))* (?:SUBSCRIPTION|TEXTS|TXTS|MESSAGES|MSGS|MESSAGING|SMS|ALERTS)(?: (?:PLEASE|NOW))*$|^HOW (?:DO|CAN) I (?:UNSUBSCRIBE|OPT OUT|STOP (?:THESE|THIS)(?: (?:TEXTS|MESSAGES|SMS))?)$/,
  /^(?:REPLY |SEND |TXT |TEXT )?STOP(?:SMS)?(?: (?:TO |AU |AN )?\d{3,})?$|^STOP (?:OR|TO) (?:END|CANCEL|QUIT|UNSUBSCRIBE)$/,
];
/**
 * Words for messages in other languages. A sentence with one of them is a request if all its other words are a
 * refusal or occur in such requests ("keine weiteren SMS", "ne plus m'envoyer de messages").
 */
const MESSAGES = wordsOf(`
  SMS SMSEN SMSER СМС NACHRICHT NACHRICHTEN WERBUNG NEWSLETTER MESSAGE MESSAGES PUB PUBS PUBLICITE MENSAJE MENSAJES PUBLICIDAD SUSCRIPCION MENSAGEM
  MENSAGENS INSCRICAO MESSAGGIO MESSAGGI PUBBLICITA ISCRIZIONE ABBONAMENTO BERICHT BERICHTEN RECLAME MEDDELANDEN MEDDELANDE MELDINGER BESKEDER REKLAM
  REKLAME VIESTIT VIESTEJA MAINOKSIA WIADOMOSCI REKLAM SPAM ZPRAV ZPRAVY UZENETET MESAJE MESAJ MESAJLARI PORUKE СООБЩЕНИЯ СООБЩЕНИЙ РЕКЛАМУ РЕКЛАМЫ
  СПАМ СПАМИТЬ ПОВІДОМЛЕННЯ ПОВІДОМЛЕНЬ РЕКЛАМИ ΜΗΝΥΜΑΤΑ`);
const REFUSALS = wordsOf(`
  KEINE KEIN NICHT NE PLUS NO NON NAO NUNCA DEJEN DEJA DEJAR PARE PAREM ARRETEZ CESSEZ SMETTETELA SMETTILA SMETTETE GEEN NIET INGA INGEN IKKE SLUTA EI ALA NIE NU
  NEM NE НЕ ХВАТИТ ПРЕКРАТИТЕ ПЕРЕСТАНЬТЕ ПРИПИНІТЬ ПЕРЕСТАНЬТЕ ISTEMIYORUM GONDERMEYIN МΗΝ ΜΗ`);
const REQUEST_WORDS = wordsOf(`
  ICH WILL MOCHTE WUNSCHE MIR UNS MICH MEHR WEITEREN WEITERE DEN DAS DIE DER MIT SIE EURE IHRE SENDEN SENDET SENDEN SCHICKEN SCHICKT SCHICK SCHREIBEN
  ZUSENDEN VON EUCH IHNEN JE VEUX VOUDRAIS SOUHAITE M ME VOUS ENVOYER ENVOYEZ MENVOYEZ RECEVOIR DE DES VOS LES LA L AU AUX A VOTRE PART
  QUIERO DESEO YA MAS RECIBIR ENVIAR ENVIEN ENVIE ENVIES MANDAR MANDARME ENVIARME MANDEN MI SUS QUERO MAIS RECEBER ENVIE ENVIEM MANDEM SUAS VOGLIO PIU
  RICEVERE INVIATE INVIATEMI MANDATE MANDATEMI INVIARE DI I VOSTRI IK WIL MEER STUUR MET FLER JAG VILL HA SKICKA SKICKAR FLERE JEG IKKE MOTTA VIL SEND
  SENDE FA ENAA LISAA HALUA LAHETTAKO CHCE WIECEJ WYSYLAJCIE OTRZYMYWAC PROSZE NECHCI DALSI POSILAT OM ВИ БОЛЬШЕ ПИШИТЕ ПРИСЫЛАЙТЕ СЛАТЬ ПРИСЫЛАТЬ ОТПРАВЛЯТЬ
  ОТПРАВЛЯЙТЕ ХОЧУ ПОЛУЧАТЬ ВАШИ МНЕ Я БІЛЬШЕ НАДСИЛАЙТЕ НАДСИЛАТИ ОТРИМУВАТИ МЕНІ ARTIK BANA DAHA FAZLA`);
/** Verbs for receiving whose infinitive is also the participle: "keine SMS erhalten" says that none arrived. */
const RECEIVING = wordsOf('ERHALTEN BEKOMMEN EMPFANGEN ONTVANGEN');
const WISHES = wordsOf('WILL MOCHTE WUNSCHE WIL');
/** Words for canceling that mean messages beside a word for them. */
const CANCELING = wordsOf(
  'CANCELAR CANCELLA CANCELLARE ANNULER ANNULEREN ANNULLA ANULUJ ANULARE KUNDIGEN ZRUSIT ОТМЕНИТЬ',
);
/** Requests without a word for messages. */
const SHORT_REQUESTS: ReadonlySet<string> = new Set(
  foldCase(`
  NICHT MEHR SCHREIBEN|NICHT MEHR KONTAKTIEREN|NICHT MEHR ANRUFEN|HORT AUF|HOREN SIE AUF|STOPPT DAS|LASST MICH IN RUHE|ICH WIDERRUFE|ICH WIDERRUFE MEINE EINWILLIGUNG
  MEINE NUMMER LOSCHEN|LOSCHEN SIE MEINE NUMMER|LOSCHT MEINE NUMMER|ICH MOCHTE MICH ABMELDEN|ICH WILL MICH ABMELDEN|MICH ABMELDEN|MICH AUSTRAGEN
  NO QUIERO MAS|YA NO QUIERO|NO ME ENVIEN MAS|NO ENVIAR MAS|NO ENVIEN MAS|NO ENVIE MAS|NO ME ENVIES MAS|QUIERO DARME DE BAJA|DARME DE BAJA|DARSE DE BAJA|DAME DE BAJA|DEME DE BAJA
  NAO QUERO MAIS|NAO ENVIE MAIS|NAO ENVIAR MAIS|NAO QUERO RECEBER|NAO QUERO MAIS RECEBER|SAIR DA LISTA|PARE DE ENVIAR|PARE DE ME ENVIAR|ME REMOVA|REMOVA ME
  ME DESABONNER|ME DESINSCRIRE|JE VEUX ME DESABONNER|JE VEUX ME DESINSCRIRE|JE VOUDRAIS ME DESABONNER|JE VOUDRAIS ME DESINSCRIRE|JE SOUHAITE ME DESABONNER|JE SOUHAITE ME DESINSCRIRE
  MERCI DE STOPPER|NE M ENVOYEZ PLUS RIEN|ARRETEZ DE M ECRIRE|NE PLUS ME CONTACTER|NE ME CONTACTEZ PLUS|ANNULLA L ISCRIZIONE|NON SCRIVETEMI PIU
  STOP ERMEE|STOP ER MEE|STOP MEE|MELD MEG AV|MELD AV|НЕ БЕСПОКОИТЬ|НЕ ПРИСЫЛАЙТЕ|НЕ ПРИСЫЛАЙТЕ БОЛЬШЕ|НЕ ПИШИТЕ МНЕ|НЕ ПИШИТЕ|НЕ ПИШИТЕ БОЛЬШЕ|УДАЛИТЕ МОЙ НОМЕР
  БОЛЬШЕ НЕ ПИШИТЕ|НЕ ПИШІТЬ МЕНІ|НЕ НАДСИЛАЙТЕ|לא לשלוח|לא לשלוח יותר|不要再发|不要再发了|别再发了|别发了|不要再發`)
    .trim()
    .split(/\s*[|\n]\s*/),
);
const REQUEST_SENTENCE = [MESSAGES, REFUSALS, RECEIVING, REQUEST_WORDS, STOP_WORDS, CANCELING, POLITE_WORDS];
/** A stop sign emoji without words. */
const STOP_SIGN = /^\s*(?:✋\uFE0F?\s*)*(?:[🛑⛔🚫](?:\uFE0F|\s)*)+$/u;
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
  const text = words.join(' ');
  return (
    isOnly(words, stopWords) ||
    STOP_MESSAGES.some((pattern) => pattern.test(text)) ||
    SHORT_REQUESTS.has(text) ||
    SHORT_REQUESTS.has(words.filter((word) => !POLITE_WORDS.has(word)).join(' ')) ||
    refusesMessages(words)
  );
}

/** Tells whether a sentence refuses messages in words that occur in such requests only. */
function refusesMessages(words: readonly string[]): boolean {
  return (
    words.some((word) => MESSAGES.has(word)) &&
    words.some((word) => REFUSALS.has(word) || STOP_WORDS.has(word) || CANCELING.has(word)) &&
    words.every((word) => REQUEST_SENTENCE.some((set) => set.has(word))) &&
    (words.some((word) => WISHES.has(word)) || !words.some((word) => RECEIVING.has(word)))
  );
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

/**
 * Removes case, accents and compatibility forms such as full-width letters, and maps letters of other alphabets to the
 * Latin letters that they look like, because keyboards mix them ("Cтоп"). Letters that stand three times or more
 * ("STOOOP") become one.
 */
function foldCase(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{Script=Cyrillic}\p{Script=Greek}ᴀ-ᴢꜱꜰ]/gu, (letter) => LOOK_ALIKES.get(letter) ?? letter)
    .replaceAll(/(\p{L})\1{2,}/gu, '$1');
}
