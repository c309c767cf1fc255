/**
 * Words in refusals in languages other than English. Mail servers of providers, universities and companies reply with
 * text such as `550 Empfänger unbekannt`, often without an enhanced code. Then only the words show whether the mailbox
 * exists.
 */

/**
 * The words of one language, as parts of regular expressions that match the result of `foldAccents`. A stem matches all
 * words that start with it. Every repetition of arbitrary characters has a limit, because a hostile server could
 * otherwise send text that takes very long to match.
 */
interface RefusalWords {
  /** Words for the recipient, or for a mailbox or an address. */
  recipient: string;
  sender: string;
  /** Words for the account of the sending service. */
  yours: string;
  /** Words for: does not exist, is unknown, was closed. */
  missing: string;
  full: string;
  /** Words for: not allowed, not valid. */
  forbidden: string;
  /** Words for: a login is required, relaying is refused. */
  login: string;
  blocklist: string;
  /** Words for spam, a virus, or a message that is too large. */
  message: string;
}

const GERMAN: RefusalWords = {
  recipient: '(empfa?e?nger|benutzer|nutzer|postfach|mailbox|adresse|mailadresse|konto|teilnehmer)',
  sender: '(absender|versender)',
  yours: '\\b(ihre?|deine?) (smtp-|e-?mail-?)?(konto|postfach|mailbox|zugang)',
  missing:
    '(unbekannt|existiert (hier |leider |bei uns )*nicht|nicht (bekannt|gefunden|vorhanden|vergeben|mehr (aktiv|gultig|vorhanden|erreichbar)|zustellbar)|kein(e|en|er)? (solche|gultige)|gibt .{0,20}kein|gelo(e)?scht|geschlossen|deaktiviert|abgeschaltet|gesperrt|gibt es (hier )?nicht|ungu(e)?ltig)',
  full: '(\\bvoll\\b|uberfullt|ueberfuellt|speicherplatz|quota|kontingent)',
  forbidden: '(nicht (erlaubt|zulassig|gestattet|verifiziert|berechtigt)|abgelehnt|unzulassig|verweigert)',
  login:
    '(authenti(fi)?zierung (ist )?(erforderlich|notwendig|fehlgeschlagen|benotigt)|anmeldung (ist )?(erforderlich|notwendig|fehlgeschlagen)|bitte (erst|zuerst|vorher)? ?(anmelden|authentifizieren)|(weiterleit|relay)\\w{0,20} (ist )?(nicht (erlaubt|gestattet|zugelassen)|verweigert|abgelehnt|untersagt)|(sende|versand|tages)(limit|kontingent)|zu viele (nachrichten|e-?mails))',
  blocklist: '(sperrliste|schwarzen? liste|blacklist|ip-?adresse .{0,40}(gesperrt|blockiert))',
  message:
    '((nachricht|mail|inhalt|anhang)\\w{0,20} .{0,40}(zu gro(ss|ß)|\\bspam\\b|virus|unerwunscht|ubersch?reit|uberschreit|schadsoftware)|werbemail)',
};

const FRENCH: RefusalWords = {
  recipient:
    '(destinataire|utilisateur|boite( aux lettres)?( electronique)?|adresse( (e-?mail|electronique|de messagerie))?|compte|usager|correspondant)',
  sender: "(expediteur|emetteur|adresse d'?expedition)",
  yours: '\\b(votre|ton) (compte|boite|abonnement)',
  missing:
    "(inconnue?s?|n'? ?existe (pas|plus)|inexistante?s?|introuvable|aucune?\\b|\\bpas de\\b|invalide|desactivee?|supprimee?|ferme(e|r)?\\b|suspendue?|non (trouvee?|valide|reconnue?)|n'?est (pas|plus) (valide|active?|reconnue?))",
  full: '(pleine?\\b|saturee?|quota|espace (disque )?insuffisant|surcharge)',
  forbidden: '(non (autorisee?|permise?|verifiee?)|interdite?|refusee?|pas autorisee?)',
  login:
    '(authentification (est )?(requise|obligatoire|necessaire|echouee)|(vous devez|veuillez) vous (authentifier|identifier|connecter)|rela(is|y|yage) .{0,20}(interdit|refuse|non autorise|pas autorise)|quota d.?envoi|limite d.?envoi)',
  blocklist: '(liste noire|blacklist|bloquee? pour .{0,20}spam|liste de blocage)',
  message:
    '(message|courriel|courrier|piece jointe|contenu) .{0,60}(trop (volumineux|grand|gros|long)|indesirable|\\bspam\\b|virus|taille maxim|pourriel)',
};

const SPANISH: RefusalWords = {
  recipient: '(destinatario|usuario|buzon|casilla|cuenta( de correo)?|direccion( de (correo|e-?mail))?|correo)',
  sender: '(remitente|emisor|direccion de origen)',
  yours: '\\b(su|tu) (cuenta|buzon|suscripcion)',
  missing:
    '(desconocid[oa]s?|no existe\\b|inexistentes?|no se encuentra|no (se )?(ha sido |fue )?encontr(ado|ada|o|amos)|no (es )?valid[oa]|invalid[oa]|eliminad[oa]|desactivad[oa]|inactiv[oa]|deshabilitad[oa]|dad[oa] de baja|cancelad[oa])',
  full: '(llen[oa]\\b|cuota|sin espacio|espacio insuficiente|capacidad)',
  forbidden: '(no (esta )?(permitid[oa]|autorizad[oa]|verificad[oa])|rechazad[oa]|denegad[oa]|prohibid[oa])',
  login:
    '((se requiere|requiere|es necesaria|falta|error de) (la )?autenticacion|autenticacion (requerida|necesaria|fallida)|(relay|reenvio|retransmision) (no (permitido|autorizado)|denegado|prohibido)|debe (autenticarse|iniciar sesion)|limite (diario )?de envios?)',
  blocklist: '(lista negra|lista de bloqueo|listas? negras?)',
  message:
    '(mensaje|contenido|archivo adjunto|correo) .{0,50}(excede|demasiado grande|tamano maximo|\\bspam\\b|virus|no deseado|basura)',
};

const PORTUGUESE: RefusalWords = {
  recipient:
    '(destinatario|usuario|utilizador|caixa( (postal|de correio|de entrada))?|conta( de e-?mail)?|endereco( de e-?mail)?)',
  sender: '(remetente|emissor)',
  yours: '\\b(sua|tua) (conta|caixa|assinatura)',
  missing:
    '(desconhecid[oa]s?|nao existe\\b|inexistentes?|nao (foi )?(encontrad[oa]|localizad[oa])|nao (e )?valid[oa]|invalid[oa]|desativad[oa]|inativ[oa]|removid[oa]|excluid[oa]|cancelad[oa]|encerrad[oa])',
  full: '(chei[oa]\\b|cota|quota|sem espaco|espaco insuficiente|lotad[oa])',
  forbidden: '(nao (esta )?(permitid[oa]|autorizad[oa]|verificad[oa])|rejeitad[oa]|recusad[oa]|negad[oa]|proibid[oa])',
  login:
    '(autenticacao (e )?(necessaria|obrigatoria|requerida|falhou)|(requer|exige) autenticacao|(relay|retransmissao) (nao (permitido|autorizado)|negad[oa]|proibid[oa])|limite (diario )?de envios?)',
  blocklist: '(lista negra|lista de bloqueio|listas? negras?)',
  message:
    '(mensagem|conteudo|anexo|arquivo) .{0,50}(excede|muito grande|tamanho maximo|\\bspam\\b|virus|indesejad[oa]|lixo)',
};

const ITALIAN: RefusalWords = {
  recipient:
    '(destinatario|utente|casella( (di posta|postale|email|e-mail))*|mailbox|indirizzo( (email|e-mail|di posta))?|account)',
  sender: '(mittente)',
  yours: '\\b(tu[oa]|su[oa]|vostr[oa]) (account|casella|abbonamento)',
  missing:
    '(sconosciut[oa]|inesistente|non (esiste|esistente|trovat[oa]|valid[oa]|attiv[oa]|riconosciut[oa]|piu attiv[oa])|disattivat[oa]|disabilitat[oa]|chius[oa]\\b|eliminat[oa]|cancellat[oa])',
  full: '(pien[oa]\\b|quota|spazio (esaurito|insufficiente)|satur[oa]\\b)',
  forbidden: '(non (e )?(autorizzat[oa]|consentit[oa]|permess[oa]|verificat[oa])|rifiutat[oa]|respint[oa]|vietat[oa])',
  login:
    '(autenticazione (e )?(richiesta|necessaria|obbligatoria|fallita)|(e )?richiesta (l.)?autenticazione|(relay|inoltro) (non (consentito|autorizzato|permesso)|negato|vietato|rifiutato)|limite (giornaliero )?di invio)',
  blocklist: '(lista nera|blacklist|liste nere)',
  message:
    '(messaggio|contenuto|allegato) .{0,50}(troppo grande|supera|dimensione massima|\\bspam\\b|virus|indesiderat[oa])',
};

const DUTCH: RefusalWords = {
  recipient: '(ontvanger|gebruiker|postbus|mailbox|(e-?mail)?adres|account|geadresseerde)',
  sender: '(afzender)',
  yours: '\\b(uw|je|jouw) (account|mailbox|abonnement)',
  missing:
    '(onbekende?|bestaat (hier )?niet|bestaat niet meer|niet (gevonden|bekend|meer in gebruik|geldig)|ongeldige?|opgeheven|verwijderd|gedeactiveerd)',
  full: '(\\bvol\\b|quota|overschreden)',
  forbidden: '(niet (toegestaan|geautoriseerd|geverifieerd)|geweigerd|geblokkeerd)',
  login:
    '(authenticatie (is )?(vereist|nodig|mislukt)|(relay|doorsturen)\\w{0,20} (is )?niet toegestaan|eerst (inloggen|aanmelden))',
  blocklist: '(zwarte lijst|blokkeerlijst)',
  message: '(bericht|bijlage) .{0,40}(te groot|\\bspam\\b|virus)',
};

const POLISH: RefusalWords = {
  recipient: '(adresat|odbiorc|uzytkownik|skrzynk|kont[oa]|adres)',
  sender: '(nadawc)',
  yours: '\\b(twoj[ea]?|panstwa) (kont|skrzynk)',
  missing:
    '(nieznan[yae]|nie istnieje|nie (zostal[ao]? )?(znalezion[oya]|odnalezion[oya])|nieprawidlow[yae]|usuniet[yae]|zablokowan[yae]|nieaktywn[yae]|nie ma\\b|brak (takiego|takiej))',
  full: '(przepelnion[aey]|peln[aey]\\b|limit (pojemnosci|miejsca))',
  forbidden: '(niedozwolon[yae]|odrzucon[yae]|nieautoryzowan[yae]|nie jest dozwolon[yae])',
  login:
    '(wymagane? (jest )?(uwierzytelnieni[ea]|autoryzacj[ai]|logowanie)|uwierzytelnienie wymagane|relay\\w{0,20} (zabronion|niedozwolon|odrzucon))',
  blocklist: '(czarn(a|ej) li(sta|scie))',
  message: '(wiadomosc|zalacznik) .{0,40}(zbyt du(z|ż)a|za du(z|ż)a|\\bspam\\b|wirus)',
};

const CZECH: RefusalWords = {
  recipient: '(prijemc|adresat|uzivatel|schrank|adresa|ucet)',
  sender: '(odesilatel)',
  yours: '\\b(vas|vase|tvuj) (ucet|schrank)',
  missing: '(neznam[yae]|neexistuj[ie]|nenalezen[aoy]?|zrusen[aoy]?|neplatn[yae])',
  full: '(pln[aey]\\b|preplnen[aoy]?|kvot)',
  forbidden: '(nepovolen[yao]?|odmitnut[ay]?|zakazan[yao]?)',
  login: '(vyzadovano overeni|overeni .{0,20}(vyzadovano|nutne)|autentizace .{0,20}(vyzadovana|nutna))',
  blocklist: '(cern(e|em) (listine|seznamu)|blacklist)',
  message: '(zprava|priloha) .{0,40}(prilis velka|\\bspam\\b|virus)',
};

const NORDIC: RefusalWords = {
  recipient: '(mottakar|mottag|mottak|modtager|anvandar|bruker|bruger|brevlad|postkasse|postboks|adress|kontot?)',
  sender: '(avsand|avsend|afsend)',
  yours: '\\b(ditt?|din) (konto|brevlada|postkasse|abonnement)',
  missing:
    '(okand|ukjent|ukendt|finns (inte|ej)|finnes ikke|findes ikke|eksisterer ikke|existerar inte|hittades inte|ikke fundet|ikke funnet|ogiltig|ugyldig|avslutat?|nedlagt)',
  full: '(\\bfull\\b|\\bfuld\\b|\\bfylld\\b|kvot[ae])',
  forbidden: '(inte tillaten|ej tillaten|ikke tilladt|ikke tillatt|avvisad|avvist|afvist)',
  login:
    '(autentisering .{0,20}(kravs|kreves|kraeves)|(kraver|krever) (autentisering|innlogging|inloggning)|vidarebefordran .{0,20}inte)',
  blocklist: '(svartlist|sortlist|sperreliste)',
  message: '(meddelande|melding|besked)\\w{0,20} .{0,40}(for sto[rt]|skrappost|soppelpost|\\bspam\\b|virus)',
};

const TURKISH: RefusalWords = {
  recipient: '(alici|kullanici|posta kutusu|adres|hesa[bp])',
  sender: '(gonderen|gonderici)',
  yours: '\\bhesabiniz',
  missing: '(bulunamadi|bulunmamaktadir|bilinmiyor|bilinmeyen|mevcut degil|gecersiz|yok\\b|kapatil|silin)',
  full: '(dolu\\b|kota)',
  forbidden: '(izin verilm|reddedil|yetkisiz|yetkili degil)',
  login: '(kimlik dogrulama\\w{0,20} .{0,20}(gerek|basarisiz)|oturum ac)',
  blocklist: '(kara liste)',
  message: '\\b(mesaj|ileti|ek)\\w{0,20} .{0,40}(cok buyuk|\\bspam\\b|virus|istenmeyen)',
};

const RUSSIAN: RefusalWords = {
  recipient: '(получател|пользовател|адресат|почтов\\S{0,20} ящик|ящик|адрес|аккаунт|учетн\\S{0,20} запис)',
  sender: '(отправител)',
  yours: 'ваш[аеу]? (аккаунт|ящик|почтов|учетн)',
  missing:
    '(не существу|не наиден|неизвест|не зарегистрирован|заблокирован|удален|отключен|недеиствител|неверн|нет такого|нет(?=[ .,!]|$)|отсутству|закрыт)',
  full: '(переполнен|квот|нет места|заполнен|недостаточно места)',
  forbidden: '(не разрешен|запрещен|отклонен|отвергнут|недопустим)',
  login:
    '(требуется (аутентификаци|авторизаци)|необходим\\S{0,20} (аутентификаци|авторизаци)|ошибка (аутентификации|авторизации)|(пересылк|ретрансляци|релеи)\\S{0,20} .{0,20}запрещен|лимит\\S{0,20} (отправк|писем|сообщении))',
  blocklist: '(черн\\S{0,20} списк|спам-?лист|блок-?лист)',
  message: '(письм|сообщени|вложени)\\S{0,20} .{0,60}(спам|вирус|слишком (больш|велик)|размер)',
};

const CHINESE: RefusalWords = {
  recipient: '(收件人|收信人|收件者|接收者|用户|用戶|使用者|邮箱|郵箱|信箱|地址|账号|帳號|帐户)',
  sender: '(发件人|寄件人|发信人|寄件者|发送者)',
  yours: '(您|你)的(账号|帐户|邮箱|郵箱|帳號)',
  missing:
    '(不存在|未找到|找不到|无此|無此|没有此|沒有此|查无|查無|无效|無效|已注销|已停用|已被禁用|被禁用|已删除|已刪除)',
  full: '(已满|已滿|空间不足|空間不足|容量不足|超出配额|超过配额|配額|配额|满了)',
  forbidden: '(不允许|不允許|拒绝|拒絕|未授权|不一致|未验证|非法)',
  login:
    '(需要(身份)?(认证|驗證|验证|登录)|(认证|驗證|验证|登录)失败|必须先(登录|认证)|不允许(转发|中继)|(转发|中继)被拒绝|发送(量|频率|数量).{0,8}(超|限))',
  blocklist: '(黑名单|黑名單|ip.{0,12}(被封|封禁|被拒|受限))',
  message: '(垃圾邮件|垃圾郵件|垃圾信|病毒|邮件(太大|过大|大小超)|郵件過大|内容被拒|敏感)',
};

const JAPANESE: RefusalWords = {
  recipient: '(宛先|受信者|ユーザー?|メールボックス|メールアドレス|アドレス|アカウント|受取人)',
  sender: '(送信者|差出人|送信元)',
  yours: '(お客様|あなた)の(アカウント|メールボックス)',
  missing:
    '(存在しません|存在しない|見つかりません|見つかりませんでした|不明|無効|ありません|登録されていません|削除されました|使用されていません|解約|停止されて)',
  full: '(いっぱい|一杯|満杯|容量.{0,10}(超|不足|オーバー)|クォータ)',
  forbidden: '(許可されて(い)?ません|拒否|認められて(い)?ません|禁止)',
  login:
    '(認証が必要|認証に失敗|認証エラー|ログインして|中継.{0,10}(拒否|許可されて|禁止)|リレー.{0,10}(拒否|許可されて|禁止)|送信(数|通数|制限).{0,10}(超|上限|制限))',
  blocklist: '(ブラックリスト|ブロックリスト|拒否リスト)',
  message: '(迷惑メール|スパム|ウイルス|サイズ.{0,12}(超|大き)|大きすぎ)',
};

const KOREAN: RefusalWords = {
  recipient: '(수신자|받는 ?사람|사용자|메일 ?함|편지함|주소|계정)',
  sender: '(발신자|보낸 ?사람|보내는 ?사람|송신자)',
  yours: '(귀하|고객님)의 ?(계정|메일)',
  missing: '(존재하지 ?않|찾을 수 없|없는|없습니다|알 수 없|유효하지 ?않|잘못된|탈퇴|삭제된|휴면)',
  full: '(가득|꽉 ?찼|용량.{0,8}(초과|부족)|초과)',
  forbidden: '(허용되지 ?않|거부|권한이 ?없)',
  login: '(인증이 ?필요|인증.{0,6}실패|로그인.{0,6}(필요|하세요)|릴레이.{0,10}(거부|허용되지|불가))',
  blocklist: '(블랙리스트|차단 ?목록|ip.{0,10}차단)',
  message: '(스팸|바이러스|크기.{0,10}(초과|큽니다)|너무 ?큽)',
};

/**
 * Words of ten more languages, from Finnish to Indonesian. One list is enough for the ten languages, because no word of
 * one language occurs in another of them.
 */
const OTHER_LANGUAGES: RefusalWords = {
  recipient:
    '(vastaanottaja|kayttaja|postilaati|cimzett|felhasznalo|postafiok|utilizator|destinatar|casut|χρηστη|παραληπτ|γραμματοκιβωτι|користувач|одержувач|скриньк|المستخدم|المستلم|صندوق البريد|המשתמש|הנמען|תיבת הדואר|ผู้ใช้|ผู้รับ|กล่องจดหมาย|nguoi (dung|nhan)|hop thu|pengguna|penerima|kotak (surat|masuk))',
  sender: '(lahettaja|felado|expeditor|αποστολε|відправник|вiдправник|المرسل|השולח|ผู้ส่ง|nguoi gui|pengirim)',
  yours: '\\b(tilisi|fiokja|contul dumneavoastra|akun anda)\\b',
  missing:
    '(tuntematon|ei (ole|loydy|loytynyt)|ismeretlen|nem (letezik|talalhato)|necunoscut|nu exista|inexistent|δεν υπαρχει|αγνωστος|не знаидено|не існує|не iснує|невідом|غير (موجود|معروف)|לא (קיים|נמצא|ידוע)|ไม่พบ|ไม่มี|khong (ton tai|tim thay)|tidak (ditemukan|ada|dikenal))',
  full: '(taynna|megtelt|\\bplina\\b|γεματ|переповнен|ممتلئ|מלאה|เต็ม|\\bda day\\b|penuh)',
  forbidden: '(ei sallittu|nem engedelyezett|nepermis|заборонен|غير مسموح|ไม่อนุญาต|khong duoc phep|tidak diizinkan)',
  login:
    '(todennus vaaditaan|hitelesites szukseges|autentificare necesara|потрібна автентифікація|autentikasi diperlukan)',
  blocklist:
    '(musta lista|mustalla listalla|feketelista|lista neagra|чорн\\S{0,20} списк|القائمة السوداء|daftar hitam)',
  message:
    '(viesti|uzenet|mesaj|лист|pesan)\\S{0,20} .{0,40}(liian suuri|tul nagy|prea mare|roskapost|\\bspam\\b|virus|terlalu besar)',
};

const LANGUAGES: readonly RefusalWords[] = [
  GERMAN,
  FRENCH,
  SPANISH,
  PORTUGUESE,
  ITALIAN,
  DUTCH,
  POLISH,
  CZECH,
  NORDIC,
  TURKISH,
  RUSSIAN,
  CHINESE,
  JAPANESE,
  KOREAN,
  OTHER_LANGUAGES,
];

const TEMPORARILY =
  '(voru(e)?bergehend|temporairement|tempora(l|ria|nea)mente|tijdelijk|tymczasowo|docasne|tillfallig|midlertidig|gecici|временно|暂时|暫時|一時的|일시적)';

export type ForeignClass = 'sender' | 'blocklist' | 'message' | 'account' | 'mailbox_for_now' | 'dead_mailbox';

/** The patterns of all languages. The first class with a match is the result, so the order of the classes matters. */
const PATTERNS: readonly (readonly [ForeignClass, readonly RegExp[]])[] = [
  [
    'sender',
    compilePatterns((words) =>
      matchInEitherOrder(words.sender, `(${words.missing}|${words.forbidden}|${words.full}|${TEMPORARILY})`, '.;:。'),
    ),
  ],
  ['blocklist', compilePatterns(({ blocklist }) => blocklist)],
  ['account', compilePatterns(({ login, yours }) => `${login}|${yours}`)],
  [
    'mailbox_for_now',
    compilePatterns(({ recipient, full }) => matchInEitherOrder(recipient, `(${full}|${TEMPORARILY})`)),
  ],
  ['message', compilePatterns(({ message }) => message)],
  ['dead_mailbox', compilePatterns(({ recipient, missing }) => matchInEitherOrder(recipient, missing))],
];

/**
 * Returns the class of a refusal in a language other than English. In patterns about the sender or the mailbox, a noun
 * and its state must be in the same sentence: `Postfach ... voll`, `Unbekannter Empfänger`. Undefined if no pattern
 * matches.
 */
export function classifyForeignRefusal(words: string): ForeignClass | undefined {
  const folded = foldAccents(words);
  return PATTERNS.find(([, patterns]) => patterns.some((pattern) => pattern.test(folded)))?.[0];
}

/**
 * Removes accents, and converts letters such as `ø` and `ł` to plain letters, because many servers write text without
 * accents: `Boîte` and `Boite` are then the same word.
 */
function foldAccents(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/å/g, 'a')
    .replace(/æ/g, 'ae')
    .replace(/ı/g, 'i')
    .replace(/’/g, "'");
}

function compilePatterns(toSource: (words: RefusalWords) => string): RegExp[] {
  return LANGUAGES.map((words) => new RegExp(toSource(words)));
}

/** Returns the source of a pattern for a noun and its state, in either order and in the same sentence. */
function matchInEitherOrder(noun: string, state: string, ends = '.;。'): string {
  return `${noun}[^${ends}]{0,60}?${state}|${state}[^${ends}]{0,30}?${noun}`;
}
