import { getFirstWord } from './field-values.ts';

/** Headers that auto-responders add to their replies. None of these headers is standardized. */
const MARKS =
  /^(?:x-(?:[a-z]+-)?auto-?(?:reply|respond|responder|response|generated|submitted)(?:-(?:from|to|domain))?|x-(?:[a-z]+-)?vacation(?:-reply)?|x-out-of-office|x-fc-machinegenerated|x-otrs-loop|x-ms-exchange-generated-message-source|x-ms-exchange-inbox-rules-loop|x-cron-env)$/;
/**
 * Header fields in which some servers write `Autoresponder`. Other values of these fields do not mark an automatic
 * reply.
 */
const RESPONDER_FIELDS: ReadonlySet<string> = new Set(['delivered-to', 'x-post-messageclass']);
/** Names of a field for the priority of an email. The last two are variants that old auto-responders write. */
const PRECEDENCE_FIELDS: ReadonlySet<string> = new Set(['precedence', 'x-precedence', 'preference']);
const PRECEDENCES: ReadonlySet<string> = new Set(['auto_reply', 'auto-reply', 'bulk', 'junk']);
/** "Automatic reply" and "Out of office" as auto-responders write them before a colon, in the languages of Outlook. */
const PROGRAM_WORDS = [
  'automatic reply',
  'auto[ -]?reply',
  'auto[ -]?response',
  'vacation (?:auto-?)?reply',
  'out of (?:the )?office(?: auto-?reply)?',
  ...['absence du bureau', 'fuera de la oficina', 'fuori sede', 'fora do escritório'],
  ...['afwezigheidsbericht', 'abwesenheitsnotiz'],
  ...['automatische antwort', 'automatisch antwoord', 'réponse automatique', 'respuesta automática'],
  ...['resposta autom[àá]tica', 'risposta automatica', 'erantzun automatikoa', 'răspuns automat', 'autosvar'],
  ...['automatis[kt]t? svar', 'sjálfvirkt svar', 'automaattinen vastaus', 'automaatvastus', 'automātiskā atbilde'],
  ...['automatinis atsakymas', 'odpowiedź automatyczna', 'automatyczna odpowiedź', 'automatická odpove[ďd]'],
  ...['automatická odpověď', 'automatikus válasz', 'samodejni odgovor', 'automatski odgovor', 'otomatik yanıt'],
  ...['αυτόματη απάντηση', 'автоответ', 'автоматический ответ', 'автоматична відповідь', 'автоматичен отговор'],
  ...['аутоматски одговор', 'аўтаматычны адказ', 'תשובה אוטומטית', 'رد تلقائي', 'پاسخ خودکار'],
  ...['स्वचालित उत्तर', 'ตอบกลับอัตโนมัติ', 'trả lời tự động', 'balasan otomatis', 'respon otomatis', 'balasan automatik'],
  ...['自动回复', '自动答复', '自動回覆', '自動回復', '自動応答', '自動返信', '자동 회신', '자동 응답'],
  'report domain',
];
/**
 * Matches subjects that programs write, and that people practically never write. For some auto-responders the subject
 * is the only sign of an automatic reply. The pattern also matches the subject of DMARC reports (RFC 7489 §7.2.1.1).
 */
const PROGRAM_SUBJECT = new RegExp(
  `^(?:\\[auto(?:matic)?[ -]?(?:reply|response)\\]|(?:${PROGRAM_WORDS.join('|')})\\s*[:：])`,
  'iu',
);
const UNMARKED: ReadonlySet<string> = new Set(['', 'no', 'false', 'none']);

type Header = Readonly<{ key: string; value: string }>;

/** Tells whether the headers mark an email as written by a program (RFC 3834 and its forerunners). */
export function hasAutomaticMark(headers: readonly Header[]): boolean {
  return headers.some(({ key, value }) => {
    const word = getFirstWord(value);
    const name = key.toLowerCase();
    if (PRECEDENCE_FIELDS.has(name)) return PRECEDENCES.has(word);
    if (RESPONDER_FIELDS.has(name)) return /\bauto-?responder$/i.test(value.trim());
    if (name === 'auto-submitted' || name === 'x-auto-response-suppress' || MARKS.test(name))
      return !UNMARKED.has(word);
    return false;
  });
}

/**
 * Tells whether the subject is one that only programs write (`PROGRAM_SUBJECT`). A person's reply to an email of a
 * program has `Re:` at the start of its subject, so it does not match.
 */
export function hasProgramSubject(subject: string): boolean {
  // Text in a language that is written from right to left may start with an invisible direction mark.
  return PROGRAM_SUBJECT.test(
    subject
      .replaceAll(/\p{Cf}/gu, '')
      .trim()
      .normalize('NFC'),
  );
}

/**
 * Tells whether an address, of an envelope sender or an author, belongs to a mail system. Email of a mail system must
 * get no reply (RFC 5321 §4.5.5).
 */
export function isMailSystem(address: string): boolean {
  return address === '' || /^mailer-daemon(?:@|$)/i.test(address);
}
