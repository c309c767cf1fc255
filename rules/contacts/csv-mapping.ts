import type { FieldError } from '../errors.ts';
import { DATA_LIMITS, RESERVED_DATA_KEYS } from '../filters/data-values.ts';

/** Target of a column: a field, a field whose values stay text, or nothing. */
export type ColumnTarget = string | { field: string; type?: 'infer' | 'string' | undefined } | null;

/**
 * Targets of columns by their header: `email`, `subscribed`, `data.<name>`, or null to ignore a column. Other columns
 * use their header.
 */
export type CsvMapping = Record<string, ColumnTarget>;

/** Columns with notes in an error file, which is corrected and imported again. They describe errors, not contacts. */
export const NOTE_COLUMNS: ReadonlySet<string> = new Set(['import_row', 'import_error']);

/** Headers of the address in the files of other programs, and in the languages of their users. */
const EMAIL_WORDS = wordsOf(`
  email mail emailaddress mailaddress emailid emails emailaddresses useremail customeremail contactemail subscriberemail
  memberemail primaryemail primaryemailaddress workemail personalemail businessemail billingemail emailbilling
  emailaddresshome emailaddresswork fromemailaddress email1 email1value electronicmail electronicmailaddress
  emailadresse mailadresse epostadresse adressemail adressemel adresseemail adresseelectronique adressecourriel
  adressedemessagerie courriel correo correoelectronico email direccióndecorreo direccióndecorreoelectrónico
  direccióndeemail correoe endereçodeemail endereçoemail endereçodecorreioeletrónico correioeletrónico
  correioeletrônico indirizzoemail indirizzomail indirizzodiposta indirizzodipostaelettronica postaelettronica
  emailadres mailadres epost epostadress epostadresse mejl mejladress mailadress emailosoite sähköposti
  sähköpostiosoite adresemail adresmailowy adrespocztyelektronicznej pocztaelektroniczna eposta epostaadresi
  emailováadresa emailadresa adresaemail adresădeemail emailcím elektronikuspošta elpaštas eposti
  почта электроннаяпочта эмейл емейл имейл адресэлектроннойпочты адреспочты електроннапошта пошта имейладрес
  διεύθυνσηemail ηλεκτρονικόταχυδρομείο メール メールアドレス eメール eメールアドレス 电子邮件 电子邮箱 电子邮件地址 邮箱 邮箱地址 邮件地址
  電子郵件 電子郵件地址 電子信箱 信箱 이메일 이메일주소 메일 메일주소 전자메일 البريدالإلكتروني البريدالالكتروني بريدإلكتروني
  דואל דוארלקטרוני אימייל ईमेल อีเมล thưđiệntử surel alamatemail`);
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
/** Headers of a state, which is consent if it is the state of a subscription. */
const STATE_WORDS = wordsOf('status state contactstatus memberstatus subscriberstate emailstate');
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
const REFUSAL_HEADER = headerPattern(
  'unsub(?:s|scribe[ds]?)?|opt(?:s|ed)?out|do(?:es)?not(?:e?mail|contact)',
  'at|on|date|day|time|timestamp|reason|flag',
);
/** Headers of telephone numbers. */
const PHONE_WORDS = wordsOf(`
  phone phonenumber phoneno telephone telephonenumber tel mobile mobilephone mobilephonenumber mobilenumber cell cellphone
  sms smsnumber whatsapp handy handynummer mobil mobilnummer mobiltelefon telefon telefonnummer rufnummer téléphone
  téléphoneportable numérodetéléphone portable mobileno teléfono teléfonomóvil móvil celular cellulare telefono
  numeroditelefono telefone telemóvel telefoon telefoonnummer mobielnummer телефон номертелефона 電話番号 电话 手机 전화번호`);
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Fields by column ('' for an ignored one) and the columns that stay text, or the errors of the mapping. */
export interface MappedColumns {
  columns: string[];
  textColumns: number[];
  /** The column that was recognized as consent by its name. */
  consentAt?: number;
  /** The columns whose cells record a refusal, by their name. Their values are data too. */
  refusalColumns: number[];
  /** The columns about consent to SMS, by their name. Their values are data too. */
  sms: SmsColumns;
  errors: FieldError[];
}

/** Columns about SMS: columns with words of consent, and columns with refusals. */
export interface SmsColumns {
  consent: number[];
  refusal: number[];
}

/** Tells whether the values of a column are words of consent. */
export type HasConsentWords = (column: number) => boolean;

/** Applies a mapping to the headers of a file. */
export function mapColumns(
  headers: readonly string[],
  mapping: CsvMapping,
  hasConsentWords: HasConsentWords = () => true,
): MappedColumns {
  const mapped: MappedColumns = {
    columns: [],
    textColumns: [],
    refusalColumns: [],
    sms: { consent: [], refusal: [] },
    errors: [],
  };
  const fault = (header: string, message: string) =>
    mapped.errors.push({ field: `mapping.${header.slice(0, DATA_LIMITS.keyLength)}`, message, code: 'custom' });
  for (const header of Object.keys(mapping)) {
    if (!headers.includes(header)) fault(header, 'The file has no such column.');
  }
  const addressAt = findColumn(headers, { mapping, field: 'email', isNamed: isEmailHeader });
  // A refusal must not become a subscription.
  const consentAt = findColumn(headers, {
    mapping,
    field: 'subscribed',
    isNamed: isConsentOrState,
    isValid: hasConsentWords,
  });
  if (consentAt >= 0) mapped.consentAt = consentAt;
  // In a file of our own, such as an export, `subscribed` is the present consent, and other columns are data.
  const saysAll = headers.some((header) => columnByHeader(header) === 'subscribed');
  const guessed = new Map([
    [consentAt, 'subscribed'],
    [addressAt, 'email'],
  ]);
  for (const [index, header] of headers.entries()) {
    const target = guessed.get(index) ?? (Object.hasOwn(mapping, header) ? mapping[header] : undefined);
    const field = fieldOf(target);
    const isData = (field ?? 'data.').startsWith('data.') && target !== null;
    if (isData && !saysAll && isRefusalHeader(header)) mapped.refusalColumns.push(index);
    if (isData && SMS_REFUSAL_WORDS.has(wordOf(header))) mapped.sms.refusal.push(index);
    if (isData && isSmsConsentHeader(header) && hasConsentWords(index)) mapped.sms.consent.push(index);
    if (target === undefined) mapped.columns.push(columnByHeader(header));
    else if (field === undefined) mapped.columns.push('');
    else {
      const column = columnByField(field);
      if (column === undefined) fault(header, `"${field.slice(0, 100)}" is no field that an import can set.`);
      mapped.columns.push(column ?? '');
    }
    if (target !== null && typeof target === 'object' && target.type === 'string') mapped.textColumns.push(index);
  }
  return mapped;
}

/**
 * Finds a column by the names that other programs and languages give it, such as `E-Mail` and `Email Address`. Returns
 * -1 if another column is mapped to the field, or has its name.
 */
function findColumn(
  headers: readonly string[],
  p: {
    mapping: CsvMapping;
    field: string;
    isNamed(header: string): boolean;
    isValid?: (column: number) => boolean;
  },
): number {
  const isFree = (header: string) => !Object.hasOwn(p.mapping, header);
  const isMapped = Object.values(p.mapping).some((target) => fieldOf(target) === p.field);
  if (isMapped || headers.some((header) => isFree(header) && columnByHeader(header) === p.field)) return -1;
  return headers.findIndex((header, at) => isFree(header) && p.isNamed(header) && (p.isValid?.(at) ?? true));
}

/** Tells whether a header is a name of consent. */
export function isConsentHeader(header: string): boolean {
  const word = wordOf(header);
  return (
    SUBSCRIBED_WORDS.has(word) ||
    CONSENT_HEADER.test(word) ||
    (CONSENT_VERB_HEADER.test(word) && NAMES_EMAIL.test(word))
  );
}

function isRefusalHeader(header: string): boolean {
  const word = wordOf(header);
  return REFUSAL_WORDS.has(word) || REFUSAL_HEADER.test(word);
}

/** Tells whether a header is a name of the address, also with a remark or the first of several: `Email (required)`, `Email Address 1`. */
function isEmailHeader(header: string): boolean {
  return EMAIL_WORDS.has(wordOf(header.replace(/\s*(?:\([^()]*\)|1)$/u, '')));
}

function isConsentOrState(header: string): boolean {
  return isConsentHeader(header) || isStateHeader(header);
}

/** Tells whether a header is a name of consent to SMS. */
export function isSmsConsentHeader(header: string): boolean {
  return SMS_CONSENT_WORDS.has(wordOf(header));
}

/** Tells whether a header is a name of a state, such as `Status`. */
export function isStateHeader(header: string): boolean {
  return STATE_WORDS.has(wordOf(header));
}

/** Returns undefined for a column that is ignored or not mapped. */
function fieldOf(target: ColumnTarget | undefined): string | undefined {
  return typeof target === 'object' ? target?.field : target;
}

/** Returns the field of a column that the request does not map. */
export function columnByHeader(header: string): string {
  const word = header.toLowerCase();
  if (NOTE_COLUMNS.has(word)) return '';
  return word === 'email' || word === 'subscribed' ? word : header;
}

/**
 * Guesses a mapping like a person would: recognizes addresses and consent by the names that other programs use, and
 * existing fields (`knownKeys`) in any spelling. Other columns get a name that templates can use.
 */
export function guessMapping(
  headers: readonly string[],
  knownKeys: readonly string[],
  hasConsentWords: HasConsentWords = () => true,
): Record<string, string | null> {
  const known = new Map(knownKeys.map((key) => [wordOf(key), key]));
  const taken = new Set<string>();
  const guess: Record<string, string | null> = {};
  const take = (header: string, field: string | undefined) => {
    // Two columns with one name are an error of the file. Columns with two names keep their values in two fields.
    const isRepeated = headers.indexOf(header) !== headers.lastIndexOf(header);
    const isOther = field?.startsWith('data.') && headers.some((name) => name !== header && `data.${name}` === field);
    const own = isOther || (field !== undefined && taken.has(field) && !isRepeated) ? `data.${header}` : field;
    const target = own !== undefined && taken.has(own) && !isRepeated ? undefined : own;
    guess[header] = target ?? null;
    if (target !== undefined) taken.add(target);
  };
  // An exact name takes precedence over similar names, in any position.
  const isExact = (header: string) => ['email', 'subscribed'].includes(header.toLowerCase());
  for (const header of headers.filter(isExact)) take(header, header.toLowerCase());
  for (const [at, header] of headers.entries()) {
    if (header === '' || isExact(header)) continue;
    const word = wordOf(header);
    if (isEmailHeader(header) && !taken.has('email')) take(header, 'email');
    else if (isConsentOrState(header) && !taken.has('subscribed') && hasConsentWords(at)) take(header, 'subscribed');
    else if (PHONE_WORDS.has(word) && !known.has(word) && !taken.has('data.phone')) take(header, 'data.phone');
    else take(header, fieldFor(header, known.get(word)));
  }
  return guess;
}

function fieldFor(header: string, knownKey: string | undefined): string | undefined {
  if (NOTE_COLUMNS.has(header.toLowerCase())) return undefined;
  const key = (knownKey ?? (IDENTIFIER.test(header) ? header : camelCase(header))).slice(0, DATA_LIMITS.keyLength);
  const field = `data.${key}`;
  return columnByField(field) === undefined ? undefined : field;
}

function columnByField(field: string): string | undefined {
  if (field === 'email' || field === 'subscribed') return field;
  const key = field.startsWith('data.') ? field.slice('data.'.length).trim() : '';
  const isNone = key === '' || key.length > DATA_LIMITS.keyLength || key === 'subscribed' || key === '__proto__';
  return isNone || RESERVED_DATA_KEYS.has(key) ? undefined : key;
}

/** Reduces a name to letters and digits in lower case, so that `E-Mail` and `email` are equal. */
function wordOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/).map(wordOf));
}

/** Returns a pattern for reduced headers (`wordOf`) with one of the words, and others of their context around it. */
function headerPattern(words: string, after: string): RegExp {
  return new RegExp(`^(?:${CONSENT_CONTEXT})*(?:${words})(?:${CONSENT_CONTEXT}|${after})*$`, 'u');
}

function camelCase(header: string): string {
  const words = header.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const [first = '', ...rest] = words;
  return first.toLowerCase() + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('');
}
