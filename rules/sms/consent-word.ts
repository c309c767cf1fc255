import {
  ANY_STOP_WORDS,
  CANCELING,
  MESSAGES,
  POLITE_WORDS,
  RECEIVING,
  REFUSALS,
  REQUEST_WORDS,
  SHORT_REQUESTS,
  START_WORDS,
  STOP_MESSAGES,
  STOP_WORDS,
  WISHES,
  YES,
} from './consent-vocabulary.ts';
import { foldLetters } from './fold-letters.ts';

/**
 * The words that may occur in a sentence that refuses messages. Each word of the sentence must be in one of these sets.
 */
const REQUEST_SENTENCE = [MESSAGES, REFUSALS, RECEIVING, REQUEST_WORDS, STOP_WORDS, CANCELING, POLITE_WORDS];
/** Matches a message that consists only of stop sign emojis. */
const STOP_SIGN = /^\s*(?:✋\uFE0F?\s*)*(?:[🛑⛔🚫](?:\uFE0F|\s)*)+$/u;
/** Matches a line that a phone adds to a message. */
const SIGNATURE =
  /\s(?:--|sent from my |von meinem .{1,30} gesendet|envoy[ée] de mon |enviado desde mi |inviato da ).*$/isu;

/**
 * Tells whether a received message withdraws or gives consent; undefined if it does neither. A stop word counts if it
 * is a whole sentence ("Stop. Thank you"), regardless of case, accents, quotes and emoji. In a longer sentence, a stop
 * word often means something else ("please stop by at eight"), so only known requests count. A start word counts only
 * if the message has no other words, because a wrong START would undo a refusal.
 */
export function findConsentWord(body: string): 'stop' | 'start' | undefined {
  if (STOP_SIGN.test(body)) return 'stop';
  // Joins "s.v.p." to one word, and treats a dash between spaces as the end of a sentence ("STOP - Ada").
  const text = foldLetters(body.replace(SIGNATURE, ''))
    .replaceAll(/(?<!\p{L})(?:\p{L}\.){2,}/gu, (letters) => `${letters.replaceAll('.', '')}.`)
    .replaceAll(/\s[-‐-―]+\s/gu, '.');
  // Quotes, hyphens and symbols that join words ("Stop & Shop") do not end a sentence. Every other symbol ends a
  // sentence.
  const sentences = text
    .split(/[^\p{L}\p{N} \t\u00A0'’‘"“”„«»‐-―_&+/@-]+/u)
    .map((sentence) => sentence.match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((words) => words.length > 0);
  if (sentences.some((words) => isStop(words, STOP_WORDS))) return 'stop';
  const relevantWords = sentences.flat();
  // The words of all sentences together are also checked, for messages such as "S.T.O.P.".
  if (isStop(relevantWords, ANY_STOP_WORDS)) return 'stop';
  return hasOnlyWordsOf(relevantWords, START_WORDS) || relevantWords.join(' ') === YES ? 'start' : undefined;
}

function isStop(words: string[], stopWords: ReadonlySet<string>): boolean {
  const text = words.join(' ');
  return (
    hasOnlyWordsOf(words, stopWords) ||
    STOP_MESSAGES.some((pattern) => pattern.test(text)) ||
    SHORT_REQUESTS.has(text) ||
    SHORT_REQUESTS.has(words.filter((word) => !POLITE_WORDS.has(word)).join(' ')) ||
    refusesMessages(words)
  );
}

/** Tells whether a sentence refuses messages, and has only words that occur in such requests. */
function refusesMessages(words: readonly string[]): boolean {
  return (
    words.some((word) => MESSAGES.has(word)) &&
    words.some((word) => REFUSALS.has(word) || STOP_WORDS.has(word) || CANCELING.has(word)) &&
    words.every((word) => REQUEST_SENTENCE.some((set) => set.has(word))) &&
    (words.some((word) => WISHES.has(word)) || !words.some((word) => RECEIVING.has(word)))
  );
}

/**
 * Tells whether a sentence consists only of words in the set, apart from polite words. Several words may form one ("OPT
 * OUT" is OPTOUT).
 */
function hasOnlyWordsOf(words: readonly string[], set: ReadonlySet<string>): boolean {
  if (set.has(words.join(''))) return true;
  const relevantWords = words.filter((word) => !POLITE_WORDS.has(word));
  return relevantWords.length > 0 && (set.has(relevantWords.join('')) || relevantWords.every((word) => set.has(word)));
}
