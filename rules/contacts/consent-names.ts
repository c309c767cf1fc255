/**
 * The names that other programs and languages give to consent: headers of CSV files, and fields of other APIs. Names of
 * consent to email, of its refusal, and of both for SMS are told apart, so that no refusal becomes a subscription.
 */

/** Headers of consent to marketing email. */
const SUBSCRIBED_WORDS = wordsOf(`
  subscribed optin optedin acceptsmarketing acceptsemailmarketing acceptmarketing emailoptin
  emailoptinstatus issubscribed emailsubscribed subscribedtoemails emailconsent marketingconsent marketingoptin
  emailmarketing emailmarketingconsent emailmarketingstatus marketingemails marketingpermission emailpermission consent
  gdprconsent consentgiven consenttomarketing subscriptionstatus subscriberstatus emailsubscriptionstatus emailstatus
  newsletter newsletters newsletteroptin newsletterconsent newslettersubscribed newslettersubscription
  subscribetonewsletter subscribedtonewsletter receivenewsletter wantsnewsletter emailnewsletter mailinglist
  abonniert newsletterabonniert newsletterabo newsletteranmeldung newsletterempfang newsletterempfänger newsletterstatus
  einwilligung werbeeinwilligung newslettereinwilligung zustimmung emailwerbung
  abonné abonnée abonnénewsletter inscrit inscritnewsletter inscriptionnewsletter abonnementnewsletter consentement
  acceptelemarketing acceptemarketing infolettre
  suscrito suscrita suscripto suscritoalboletín boletín consentimiento aceptamarketing aceptapublicidad
  iscritto iscritta iscrittoallanewsletter iscrizionenewsletter consenso consensomarketing
  inscrito inscrita assinante consentimento aceitamarketing boletim
  ingeschreven geabonneerd nieuwsbrief toestemming prenumerant nyhetsbrev samtycke samtykke nyhedsbrev uutiskirje suostumus
  zgoda zgodamarketingowa subskrybent souhlas odběr hozzájárulás hírlevél abonare izin onay ebülten abone
  подписан подписчик рассылка согласие згода ενημερωτικόδελτίο συγκατάθεση
  メルマガ メールマガジン ニュースレター 配信許可 订阅 訂閱 电子报 電子報 뉴스레터 구독 수신동의 النشرة ניוזלטר`);
/** Headers of a refusal of email, whose cells hold yes, a time or a reason. */
const REFUSAL_WORDS = wordsOf(`
  unsubscribed unsubscribe unsubscribedat unsubscribedon unsubscribedate unsubscribeddate unsubscribetime unsubscribedtime
  unsubtime unsubscribedfromemail unsubscribedfromemails unsubscribedfromallemail unsubscribedfromallemails optout optedout
  optoutdate optouttime optedoutat emailoptout emailoptedout hasoptedoutofemail optedoutofemail optoutofemail donotemail
  noemail emailblacklist emailblacklisted blacklistedemail blacklistemail blacklisted emailblocklist emailblocklisted
  blocklistedemail blocklisted emailsuppressed suppressed globallyunsubscribed globalunsubscribe cleantime
  abgemeldet abgemeldetam abmeldung abmeldedatum désabonné désabonnée désinscrit désinscription datededésinscription
  desuscrito fechadebaja disiscritto descadastrado uitgeschreven avregistrerad wypisany отписан отписался отписка`);
/** Headers of consent to SMS. */
const SMS_CONSENT_WORDS = wordsOf(`
  acceptssms acceptsms acceptssmsmarketing acceptsmsmarketing smsmarketing smsmarketingconsent smsmarketingstatus smsconsent
  smsconsentstatus smsoptin smsoptedin smsoptinstatus smspermission smsallowed allowsms allowssms receivesms receivessms
  wantssms smsstatus smssubscriptionstatus smssubscription subscribedtosms optinsms optedinsms consentsms smsnewsletter
  textconsent textoptin textmarketing textmarketingconsent textmessageconsent acceptstexts mobileoptin mobileconsent
  mobilemarketingconsent smseinwilligung smswerbung consentementsms acceptelessms consentimientosms aceptasms
  consensosms accettasms consentimentosms aceitasms toestemmingsms zgodasms`);
/** Headers of a refusal of SMS, whose cells hold yes, a time or a reason. */
const SMS_REFUSAL_WORDS = wordsOf(`
  smsoptout smsoptedout smsoptouttime smsoptoutdate smsoptoutat optoutsms optedoutsms optedoutofsms smsblacklist smsblacklisted
  blacklistedsms smsblocklist smsblocklisted blocklistedsms smsunsubscribed smsunsubscribe smsunsubscribedat
  unsubscribedfromsms smsstopped smsstop nosms donotsms donottext notexts textoptout textoptedout smsabgemeldet`);
/** Words beside the one that means consent or refusal, in any order: `Email Marketing: Subscribed`. */
const CONSENT_CONTEXT =
  'is|has|does|e?mails?|marketing|newsletters?|news|promo(?:tion)?s?|promotional|communications?|to|for|of|from|by|via|the|our|us|and|all|lists?|mailing|currently|gdpr|global(?:ly)?|contact|customer|user|member';
/** Headers such as `Subscribe`, `Is Opted In` and `Consent to Email Marketing`. */
const CONSENT_HEADER = headerPattern('subscribe[drs]?|opt(?:s|ed)?in|consent(?:s|ed)?', 'status|flag|given');
/** Verbs that mean consent only beside a word for email, such as `Receives Newsletter`. */
const CONSENT_VERB_HEADER = headerPattern(
  'accept(?:s|ed)?|agree[ds]?|permission|permitted|allow(?:s|ed)?|wants?|receives?|subscriptions?|subscriber',
  'status|flag|given',
);
const NAMES_EMAIL = /mail|marketing|news|promo/u;
/** Headers such as `Unsub`, `Marketing Opt Out` and `Unsubscribe Reason`. A link to unsubscribe is no refusal. */
const REFUSAL = 'unsub(?:s|scribe[ds]?)?|opt(?:s|ed)?out';
const REFUSAL_DETAIL = 'at|on|date|day|time|timestamp|reason|flag';
const REFUSAL_HEADER = headerPattern(`${REFUSAL}|do(?:es)?not(?:e?mail|contact)`, REFUSAL_DETAIL);
/** Words for SMS. A header with one of them is about SMS, such as `SMS: subscribed` and `Opted out of texts`. */
const SMS_CONTEXT = 'sms|texts?|mobile|messages?|messaging';
const NAMES_SMS = /sms|text|mobile/u;
const SMS_CONSENT_HEADER = headerPattern(
  'subscribe[drs]?|subscriptions?|opt(?:s|ed)?in|consent(?:s|ed)?|accept(?:s|ed)?|agree[ds]?|permission|permitted|allow(?:s|ed)?|wants?|receives?',
  'status|flag|given',
  SMS_CONTEXT,
);
/** Headers about both channels, such as `Email & SMS opt-in`, count for both. */
const NAMES_BOTH = /^(?=.*(?:mail(?!ing)|newsletter))(?=.*(?:sms|text|mobile))/u;
const SMS_REFUSAL_HEADER = headerPattern(`${REFUSAL}|do(?:es)?not(?:sms|text)`, REFUSAL_DETAIL, SMS_CONTEXT);

/** Tells whether a header is a name of consent. */
export function isConsentHeader(header: string): boolean {
  const word = wordOf(header);
  return (
    SUBSCRIBED_WORDS.has(word) ||
    CONSENT_HEADER.test(word) ||
    (CONSENT_VERB_HEADER.test(word) && NAMES_EMAIL.test(word)) ||
    (SMS_CONSENT_HEADER.test(word) && NAMES_BOTH.test(word))
  );
}

/** Tells whether a header is a name of refusal. */
export function isRefusalHeader(header: string): boolean {
  const word = wordOf(header);
  if (REFUSAL_WORDS.has(word) || REFUSAL_HEADER.test(word)) return true;
  return SMS_REFUSAL_HEADER.test(word) && NAMES_BOTH.test(word);
}

/** Tells whether a header is a name of consent to SMS. */
export function isSmsConsentHeader(header: string): boolean {
  const word = wordOf(header);
  return SMS_CONSENT_WORDS.has(word) || (SMS_CONSENT_HEADER.test(word) && NAMES_SMS.test(word));
}

/** Tells whether a header is a name of refusal of SMS. */
export function isSmsRefusalHeader(header: string): boolean {
  const word = wordOf(header);
  return SMS_REFUSAL_WORDS.has(word) || (SMS_REFUSAL_HEADER.test(word) && NAMES_SMS.test(word));
}

/** Returns our name of the consent, or the refusal, that a field of another API has. Undefined for other names. */
export function consentFieldOf(name: string): 'subscribed' | 'unsubscribed' | 'smsSubscribed' | undefined {
  if (isSmsConsentHeader(name) || isSmsRefusalHeader(name)) return 'smsSubscribed';
  if (isRefusalHeader(name)) return 'unsubscribed';
  return isConsentHeader(name) ? 'subscribed' : undefined;
}

/** Reduces a name to letters and digits in lower case, so that `E-Mail` and `email` are equal. */
export function wordOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

export function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/).map(wordOf));
}

/** Returns a pattern for reduced headers (`wordOf`) with one of the words, and others of their context around it. */
function headerPattern(words: string, after: string, context?: string): RegExp {
  const around = context === undefined ? CONSENT_CONTEXT : `${CONSENT_CONTEXT}|${context}`;
  return new RegExp(`^(?:${around})*(?:${words})(?:${around}|${after})*$`, 'u');
}
