import type { FieldError } from '../errors.ts';
import { DATA_LIMITS, RESERVED_DATA_KEYS } from '../filters/data-values.ts';
import {
  isConsentHeader,
  isRefusalHeader,
  isSmsConsentHeader,
  isSmsRefusalHeader,
  normalizeHeader,
  parseHeaders,
} from './consent-names.ts';

/** The target of a column: a field, a field whose values are kept as text (`string`), or null to ignore the column. */
export type ColumnTarget = string | { field: string; type?: 'infer' | 'string' | undefined } | null;

/**
 * Targets of columns by their header. A target is `email`, `subscribed`, `data.<name>`, or null. A column without a
 * target uses its header as the field.
 */
export type CsvMapping = Record<string, ColumnTarget>;

/**
 * Columns that an export of failed rows adds before the others. Users correct such a file and import it again. These
 * columns describe errors, not contacts, so they are ignored.
 */
const NOTE_COLUMNS: ReadonlySet<string> = new Set(['import_row', 'import_error']);

/** Headers for an email address in the files of other programs, in many languages. */
const EMAIL_WORDS = parseHeaders(`
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
/** Headers of a state. The column is about consent if its cells contain the state of a subscription. */
const STATE_WORDS = parseHeaders('status state contactstatus memberstatus subscriberstate emailstate');
/** Headers of telephone numbers. */
const PHONE_WORDS = parseHeaders(`
  phone phonenumber phoneno telephone telephonenumber tel mobile mobilephone mobilephonenumber mobilenumber cell cellphone
  sms smsnumber whatsapp handy handynummer mobil mobilnummer mobiltelefon telefon telefonnummer rufnummer téléphone
  téléphoneportable numérodetéléphone portable mobileno teléfono teléfonomóvil móvil celular cellulare telefono
  numeroditelefono telefone telemóvel telefoon telefoonnummer mobielnummer телефон номертелефона 電話番号 电话 手机 전화번호`);
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The result of a mapping: the field of each column ('' if the column is ignored), columns with a special meaning, and
 * errors.
 */
export interface MappedColumns {
  columns: string[];
  textColumns: number[];
  /** The column whose header was recognized as consent. */
  consentAt?: number;
  /** The columns whose header says that their cells record a refusal. The cells are also stored as data. */
  refusalColumns: number[];
  /** The columns whose header is about consent to SMS. The cells are also stored as data. */
  sms: SmsColumns;
  errors: FieldError[];
}

/** Columns about SMS: columns with words of consent, and columns with refusals. */
export interface SmsColumns {
  consent: number[];
  refusal: number[];
}

/** Tells whether a column has words for consent. */
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
  const addError = (header: string, message: string) =>
    mapped.errors.push({ field: `mapping.${header.slice(0, DATA_LIMITS.keyLength)}`, message, code: 'custom' });
  for (const header of Object.keys(mapping)) {
    if (!headers.includes(header)) addError(header, 'The file has no such column.');
  }
  const fields = findHeaderFields(headers);
  const addressAt = findColumn(headers, { mapping, fields, field: 'email', isNamed: isEmailHeader });
  // Requires words for consent, so that a column with other values, such as a refusal, does not become a subscription.
  const consentAt = findColumn(headers, {
    mapping,
    fields,
    field: 'subscribed',
    isNamed: isConsentOrState,
    isValid: hasConsentWords,
  });
  if (consentAt >= 0) mapped.consentAt = consentAt;
  // If there is a column `subscribed`, as in an export, it has the current consent to email, so columns such as
  // `Unsubscribed` are only data.
  const hasSubscribed = fields.includes('subscribed');
  const targetsByName = new Map([
    [consentAt, 'subscribed'],
    [addressAt, 'email'],
  ]);
  for (const [index, header] of headers.entries()) {
    const target = targetsByName.get(index) ?? (Object.hasOwn(mapping, header) ? mapping[header] : undefined);
    const field = readTargetField(target);
    const isData = (field ?? 'data.').startsWith('data.') && target !== null;
    if (isData && !hasSubscribed && isRefusalHeader(header)) mapped.refusalColumns.push(index);
    if (isData && isSmsRefusalHeader(header)) mapped.sms.refusal.push(index);
    const isSmsConsent = isSmsConsentHeader(header) && hasConsentWords(index);
    if (isSmsConsent && (isData || index === consentAt)) mapped.sms.consent.push(index);
    if (target === undefined) mapped.columns.push(fields[index] ?? '');
    else if (field === undefined) mapped.columns.push('');
    else {
      const column = fieldToColumn(field, header);
      if (column === undefined) addError(header, `"${field.slice(0, 100)}" is not a field that an import can set.`);
      mapped.columns.push(column ?? '');
    }
    if (target !== null && typeof target === 'object' && target.type === 'string') mapped.textColumns.push(index);
  }
  return mapped;
}

/**
 * Finds the column of a field by the names for it in other programs and languages, such as `E-Mail` and `Email
 * Address`. Returns -1 if a column is already mapped to the field or has exactly its name, or if no column is found.
 */
function findColumn(
  headers: readonly string[],
  p: {
    mapping: CsvMapping;
    fields: readonly string[];
    field: string;
    isNamed(header: string): boolean;
    isValid?: (column: number) => boolean;
  },
): number {
  const isUnmapped = (header: string) => !Object.hasOwn(p.mapping, header);
  const isMapped = Object.values(p.mapping).some((target) => readTargetField(target) === p.field);
  if (isMapped || headers.some((header, at) => isUnmapped(header) && p.fields[at] === p.field)) return -1;
  return headers.findIndex((header, at) => isUnmapped(header) && p.isNamed(header) && (p.isValid?.(at) ?? true));
}

/**
 * Tells whether a header is a name for the email address. The header may have a remark, such as `Email (required)`, or
 * be the first of several, such as `Email Address 1`.
 */
function isEmailHeader(header: string): boolean {
  return EMAIL_WORDS.has(normalizeHeader(header.replace(/\s*(?:\([^()]*\)|1)$/u, '')));
}

function isConsentOrState(header: string): boolean {
  return isConsentHeader(header) || isStateHeader(header);
}

/** Tells whether a header names a state, such as `Status`. */
export function isStateHeader(header: string): boolean {
  return STATE_WORDS.has(normalizeHeader(header));
}

/** Returns the field of a target, such as `data.city`. Undefined for a column that is ignored or not mapped. */
function readTargetField(target: ColumnTarget | undefined): string | undefined {
  return typeof target === 'object' ? target?.field : target;
}

/**
 * Tells whether a file has the columns `email` and `subscribed` in exactly this spelling, as exports of this service
 * do. All other columns of such a file are data under their exact names, so that an import restores every key of an
 * export: `Email`, `import_row`, or a key with spaces around it.
 */
export function isOwnFile(headers: readonly string[]): boolean {
  return headers.includes('email') && headers.includes('subscribed');
}

/**
 * Returns the fields of the columns that the request does not map: `email`, `subscribed`, the header, or '' for a
 * column that is ignored.
 */
function findHeaderFields(headers: readonly string[]): string[] {
  const isOwn = isOwnFile(headers);
  const addressAt = headers.indexOf('email');
  return headers.map((header, at) => {
    const word = header.toLowerCase();
    if (NOTE_COLUMNS.has(word) && (!isOwn || at < addressAt)) return '';
    return !isOwn && (word === 'email' || word === 'subscribed') ? word : header;
  });
}

/**
 * Guesses a mapping. Recognizes addresses and consent by the names that other programs use, and existing fields
 * (`knownKeys`) in any spelling. Other columns get a name that templates can use.
 */
export function guessMapping(
  headers: readonly string[],
  knownKeys: readonly string[],
  hasConsentWords: HasConsentWords = () => true,
): Record<string, string | null> {
  const keysByName = new Map(knownKeys.map((key) => [normalizeHeader(key), key]));
  const fields = findHeaderFields(headers);
  const takenFields = new Set<string>();
  const guess: Record<string, string | null> = {};
  const assign = (header: string, field: string | undefined) => {
    // Two columns with the same header are an error of the file, which the import reports. Columns with different
    // headers must get different fields.
    const isRepeated = headers.indexOf(header) !== headers.lastIndexOf(header);
    const isOther = field?.startsWith('data.') && headers.some((name) => name !== header && `data.${name}` === field);
    const candidate =
      isOther || (field !== undefined && takenFields.has(field) && !isRepeated) ? `data.${header}` : field;
    const target = candidate !== undefined && takenFields.has(candidate) && !isRepeated ? undefined : candidate;
    guess[header] = target ?? null;
    if (target !== undefined) takenFields.add(target);
  };
  // A column with the exact name takes precedence over columns with similar names, wherever it is in the file.
  const isExact = (at: number) => fields[at] === 'email' || fields[at] === 'subscribed';
  for (const [at, header] of headers.entries()) if (isExact(at)) assign(header, fields[at]);
  for (const [at, header] of headers.entries()) {
    if (header === '' || isExact(at)) continue;
    const word = normalizeHeader(header);
    if (fields[at] === '') assign(header, undefined);
    else if (isEmailHeader(header) && !takenFields.has('email')) assign(header, 'email');
    else if (isConsentOrState(header) && !takenFields.has('subscribed') && hasConsentWords(at))
      assign(header, 'subscribed');
    else if (PHONE_WORDS.has(word) && !keysByName.has(word) && !takenFields.has('data.phone'))
      assign(header, 'data.phone');
    else assign(header, guessField(header, knownKeys.includes(header) ? header : keysByName.get(word)));
  }
  return guess;
}

function guessField(header: string, knownKey: string | undefined): string | undefined {
  // Only headers of this service's files have spaces around them (`readCsvHead`). There they belong to the key.
  const isKey = IDENTIFIER.test(header) || header !== header.trim();
  const key = (knownKey ?? (isKey ? header : toCamelCase(header))).slice(0, DATA_LIMITS.keyLength);
  const field = `data.${key}`;
  return fieldToColumn(field, header) === undefined ? undefined : field;
}

/** Returns the column of a field. Spaces around a key belong to it only if the header has the same spaces. */
function fieldToColumn(field: string, header: string): string | undefined {
  if (field === 'email' || field === 'subscribed') return field;
  const written = field.startsWith('data.') ? field.slice('data.'.length) : '';
  const key = written === header ? written : written.trim();
  const isInvalid = key === '' || key.length > DATA_LIMITS.keyLength || key === 'subscribed' || key === '__proto__';
  return isInvalid || RESERVED_DATA_KEYS.has(key) ? undefined : key;
}

function toCamelCase(header: string): string {
  const words = header.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const [first = '', ...rest] = words;
  return first.toLowerCase() + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('');
}
