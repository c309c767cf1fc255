/**
 * The names for consent in other programs and languages: headers of CSV files, and fields of other APIs. Consent to
 * email, refusal of email, consent to SMS and refusal of SMS have separate lists, so that no refusal becomes a
 * subscription.
 */

/** Headers of consent to marketing email. */
const SUBSCRIBED_WORDS = parseHeaders(`
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
/** Headers of a refusal of email, whose cells contain yes, a time or a reason. */
const REFUSAL_WORDS = parseHeaders(`
  unsubscribed unsubscribe unsubscribedat unsubscribedon unsubscribedate unsubscribeddate unsubscribetime unsubscribedtime
  unsubtime unsubscribedfromemail unsubscribedfromemails unsubscribedfromallemail unsubscribedfromallemails optout optedout
  optoutdate optouttime optedoutat emailoptout emailoptedout hasoptedoutofemail optedoutofemail optoutofemail donotemail
  noemail emailblacklist emailblacklisted blacklistedemail blacklistemail blacklisted emailblocklist emailblocklisted
  blocklistedemail blocklisted emailsuppressed suppressed globallyunsubscribed globalunsubscribe cleantime
  abgemeldet abgemeldetam abmeldung abmeldedatum désabonné désabonnée désinscrit désinscription datededésinscription
  desuscrito fechadebaja disiscritto descadastrado uitgeschreven avregistrerad wypisany отписан отписался отписка`);
/** Headers of consent to SMS. */
const SMS_CONSENT_WORDS = parseHeaders(`
  acceptssms acceptsms acceptssmsmarketing acceptsmsmarketing smsmarketing smsmarketingconsent smsmarketingstatus smsconsent
  smsconsentstatus smsoptin smsoptedin smsoptinstatus smspermission smsallowed allowsms allowssms receivesms receivessms
  wantssms smsstatus smssubscriptionstatus smssubscription subscribedtosms optinsms optedinsms consentsms smsnewsletter
  textconsent textoptin textmarketing textmarketingconsent textmessageconsent acceptstexts mobileoptin mobileconsent
  mobilemarketingconsent smseinwilligung smswerbung consentementsms acceptelessms consentimientosms aceptasms
  consensosms accettasms consentimentosms aceitasms toestemmingsms zgodasms`);
/** Headers of a refusal of SMS, whose cells contain yes, a time or a reason. */
const SMS_REFUSAL_WORDS = parseHeaders(`
  smsoptout smsoptedout smsoptouttime smsoptoutdate smsoptoutat optoutsms optedoutsms optedoutofsms smsblacklist smsblacklisted
  blacklistedsms smsblocklist smsblocklisted blocklistedsms smsunsubscribed smsunsubscribe smsunsubscribedat
  unsubscribedfromsms smsstopped smsstop nosms donotsms donottext notexts textoptout textoptedout smsabgemeldet`);
/**
 * Words that may be in a header together with a word for consent or refusal, in any order: `Email Marketing:
 * Subscribed`.
 */
const CONSENT_CONTEXT =
  'is|has|does|e?mails?|marketing|newsletters?|news|promo(?:tion)?s?|promotional|communications?|to|for|of|from|by|via|the|our|us|and|all|lists?|mailing|currently|gdpr|global(?:ly)?|contact|customer|user|member';
/** Headers such as `Subscribe`, `Is Opted In` and `Consent to Email Marketing`. */
const CONSENT_HEADER = createHeaderPattern('subscribe[drs]?|opt(?:s|ed)?in|consent(?:s|ed)?', 'status|flag|given');
/** Headers with a verb that means consent only together with a word for email, such as `Receives Newsletter`. */
const CONSENT_VERB_HEADER = createHeaderPattern(
  'accept(?:s|ed)?|agree[ds]?|permission|permitted|allow(?:s|ed)?|wants?|receives?|subscriptions?|subscriber',
  'status|flag|given',
);
const NAMES_EMAIL = /mail|marketing|news|promo/u;
/**
 * Words in headers such as `Unsub`, `Marketing Opt Out` and `Unsubscribe Reason`. "Link" is not one of them, because a
 * column with links to unsubscribe records no refusal.
 */
const REFUSAL = 'unsub(?:s|scribe[ds]?)?|opt(?:s|ed)?out';
const REFUSAL_DETAIL = 'at|on|date|day|time|timestamp|reason|flag';
const REFUSAL_HEADER = createHeaderPattern(`${REFUSAL}|do(?:es)?not(?:e?mail|contact)`, REFUSAL_DETAIL);
/** Words for SMS. A header with one of these words is about SMS, such as `SMS: subscribed` and `Opted out of texts`. */
const SMS_CONTEXT = 'sms|texts?|mobile|messages?|messaging';
const NAMES_SMS = /sms|text|mobile/u;
const SMS_CONSENT_HEADER = createHeaderPattern(
  'subscribe[drs]?|subscriptions?|opt(?:s|ed)?in|consent(?:s|ed)?|accept(?:s|ed)?|agree[ds]?|permission|permitted|allow(?:s|ed)?|wants?|receives?',
  'status|flag|given',
  SMS_CONTEXT,
);
/** Headers about both channels, such as `Email & SMS opt-in`, count for both. */
const NAMES_BOTH = /^(?=.*(?:mail(?!ing)|newsletter))(?=.*(?:sms|text|mobile))/u;
const SMS_REFUSAL_HEADER = createHeaderPattern(`${REFUSAL}|do(?:es)?not(?:sms|text)`, REFUSAL_DETAIL, SMS_CONTEXT);

/** Tells whether a header means consent to marketing email, such as `Accepts Marketing` and `Newsletter`. */
export function isConsentHeader(header: string): boolean {
  const normalized = normalizeHeader(header);
  return (
    SUBSCRIBED_WORDS.has(normalized) ||
    CONSENT_HEADER.test(normalized) ||
    (CONSENT_VERB_HEADER.test(normalized) && NAMES_EMAIL.test(normalized)) ||
    (SMS_CONSENT_HEADER.test(normalized) && NAMES_BOTH.test(normalized))
  );
}

/** Tells whether a header means a refusal of email, such as `Unsubscribed At` and `Opt-Out`. */
export function isRefusalHeader(header: string): boolean {
  const normalized = normalizeHeader(header);
  if (REFUSAL_WORDS.has(normalized) || REFUSAL_HEADER.test(normalized)) return true;
  return SMS_REFUSAL_HEADER.test(normalized) && NAMES_BOTH.test(normalized);
}

/** Tells whether a header means consent to SMS, such as `Accepts SMS`. */
export function isSmsConsentHeader(header: string): boolean {
  const normalized = normalizeHeader(header);
  return SMS_CONSENT_WORDS.has(normalized) || (SMS_CONSENT_HEADER.test(normalized) && NAMES_SMS.test(normalized));
}

/** Tells whether a header means a refusal of SMS, such as `SMS Opt-Out`. */
export function isSmsRefusalHeader(header: string): boolean {
  const normalized = normalizeHeader(header);
  return SMS_REFUSAL_WORDS.has(normalized) || (SMS_REFUSAL_HEADER.test(normalized) && NAMES_SMS.test(normalized));
}

/**
 * Returns the field of this service that corresponds to a field of another API about consent or refusal. Undefined if
 * the name means neither.
 */
export function findConsentField(name: string): 'subscribed' | 'unsubscribed' | 'smsSubscribed' | undefined {
  if (isSmsConsentHeader(name) || isSmsRefusalHeader(name)) return 'smsSubscribed';
  if (isRefusalHeader(name)) return 'unsubscribed';
  return isConsentHeader(name) ? 'subscribed' : undefined;
}

/** Reduces a name to its letters and digits, in lower case and without accents: `E-Mail` becomes `email`. */
export function normalizeHeader(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the normalized headers in a list that is separated by spaces and line breaks. */
export function parseHeaders(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/).map(normalizeHeader));
}

/**
 * Returns a pattern for normalized headers (`normalizeHeader`). A header matches if it has one of the words, and
 * otherwise only words of the context, or words of `after` in later positions.
 */
function createHeaderPattern(words: string, after: string, context?: string): RegExp {
  const around = context === undefined ? CONSENT_CONTEXT : `${CONSENT_CONTEXT}|${context}`;
  return new RegExp(`^(?:${around})*(?:${words})(?:${around}|${after})*$`, 'u');
}
