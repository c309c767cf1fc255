import { firstWord } from './field-values.ts';

/** Headers that auto-responders add to their replies; none of them is standardized. */
const MARKS =
  /^(?:x-(?:[a-z]+-)?auto-?(?:reply|respond|responder|response|generated|submitted)(?:-(?:from|to))?|x-vacation|x-fc-machinegenerated|x-otrs-loop|x-ms-exchange-generated-message-source|x-ms-exchange-inbox-rules-loop|x-cron-env)$/;
/** Fields in which some servers write `Autoresponder`. Other values of these fields mean nothing. */
const RESPONDER_FIELDS: ReadonlySet<string> = new Set(['delivered-to', 'x-post-messageclass']);
/** Names of a field for the priority of an email. The last two are misspellings of old auto-responders. */
const PRECEDENCE_FIELDS: ReadonlySet<string> = new Set(['precedence', 'x-precedence', 'preference']);
const PRECEDENCES: ReadonlySet<string> = new Set(['auto_reply', 'auto-reply', 'bulk', 'junk']);
/**
 * Subjects that only programs write, without `Re:` before them. Some auto-responders mark their replies in no other way.
 * DMARC reports (RFC 7489 §7.2.1.1) have a subject of their own.
 */
const PROGRAM_SUBJECT =
  /^(?:\[auto(?:matic)?[ -]?(?:reply|response)\]|(?:automatic reply|auto[ -]?reply|auto[ -]?response|out of (?:the )?office(?: auto-?reply)?|absence du bureau|fuera de la oficina|fuori sede|fora do escritório|afwezigheidsbericht|automatische antwort|abwesenheitsnotiz|réponse automatique|respuesta automática|resposta automática|risposta automatica|automatisch antwoord|autosvar|automatis[kt]t? svar|odpowiedź automatyczna|automatická odpověď|automaattinen vastaus|otomatik yanıt|автоответ|автоматический ответ|自动回复|自動回覆|自動応答|자동 회신|report domain)\s*[:：])/iu;
const UNMARKED: ReadonlySet<string> = new Set(['', 'no', 'false', 'none']);

type Header = Readonly<{ key: string; value: string }>;

/** Tells whether the headers mark an email as written by a program (RFC 3834 and its forerunners). */
export function hasAutomaticMark(headers: readonly Header[]): boolean {
  return headers.some(({ key, value }) => {
    const word = firstWord(value);
    const name = key.toLowerCase();
    if (PRECEDENCE_FIELDS.has(name)) return PRECEDENCES.has(word);
    if (RESPONDER_FIELDS.has(name)) return /\bauto-?responder$/i.test(value.trim());
    if (name === 'auto-submitted' || name === 'x-auto-response-suppress' || MARKS.test(name))
      return !UNMARKED.has(word);
    return false;
  });
}

/** Tells whether only a program writes this subject. A person's answer to it begins with `Re:`. */
export function hasProgramSubject(subject: string): boolean {
  return PROGRAM_SUBJECT.test(subject.trim().normalize('NFC'));
}

/**
 * Tells whether an envelope sender or an author is a mail system, whose email must get no reply (RFC 5321 §4.5.5).
 */
export function isMailSystem(address: string): boolean {
  return address === '' || /^mailer-daemon(?:@|$)/i.test(address);
}
