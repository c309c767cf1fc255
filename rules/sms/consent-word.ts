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

/** Every word of a sentence that refuses messages is in one of these sets. */
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
  const text = foldLetters(body.replace(SIGNATURE, ''))
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
