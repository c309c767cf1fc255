/**
 * Checks the language of comments, test names, dashboard strings and documents (CONTRIBUTING.md, "Language"). Prints each
 * sentence that starts with a word of `OPENING` and is not a question, each word that `words.json` lists, and each
 * sentence of a document or a dashboard string with more than `LONG_SENTENCE_WORDS` words. In documents, also prints each
 * line with more than `LONG_LINE_CHARS` characters, in tables too.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

const LONG_SENTENCE_WORDS = 35;
const LONG_LINE_CHARS = 120;

const SKIPPED = /generated|histories|\/corpus\/|newsletters|__snapshots__|^test\/check-words\.mjs$/;
/** In the CHANGELOG, only the length of lines is checked. */
const ONLY_LINES = /(^|\/)CHANGELOG\.md$/;
/** Matches a line without a space at which it could be broken, such as a long link. */
const UNBREAKABLE = /^\s*(?:\[[^\]]+\]: )?\S*$/;
const OPENING = /^(?:What|Who|Whose|Nobody|Of (?!course))\b/;
const WORDS = Object.entries(JSON.parse(readFileSync(join(ROOT, 'test/words.json'), 'utf8'))).map(([words, write]) => [
  new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, 'i'),
  write,
]);

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 1e8,
})
  .split('\n')
  .filter((file) => /\.(tsx?|mjs|md)$/.test(file) && !SKIPPED.test(file));
const found = files.flatMap(listFindings);
for (const { file, line, says } of found) console.error(`${file}:${line} ${says}`);
process.exitCode = found.length > 0 ? 1 : 0;

/** Lists the findings of a file. */
function listFindings(file) {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const longLines = file.endsWith('.md') ? listLongLines(source).map((found) => ({ file, ...found })) : [];
  if (ONLY_LINES.test(file)) return longLines;
  const blocks = file.endsWith('.md')
    ? listParagraphs(source)
    : [...listComments(source), ...listStrings(file, source)];
  const long = file.endsWith('.md') || file.startsWith('dashboard/text/');
  const wordings = blocks.flatMap(({ line, text }) =>
    splitSentences(text).flatMap((sentence) => findFaults(sentence, long).map((says) => ({ file, line, says }))),
  );
  return [...longLines, ...wordings];
}

/** Lists the lines of a Markdown page that are too long, without blocks of code. */
function listLongLines(source) {
  const found = [];
  let fenced = false;
  for (const [at, raw] of source.split('\n').entries()) {
    const chars = [...raw].length;
    if (/^\s*(?:```|~~~)/.test(raw)) fenced = !fenced;
    else if (!fenced && chars > LONG_LINE_CHARS && !UNBREAKABLE.test(raw))
      found.push({ line: at + 1, says: `has ${chars} characters, at most ${LONG_LINE_CHARS}` });
  }
  return found;
}

function findFaults(sentence, long) {
  const faults = WORDS.flatMap(([pattern, write]) => {
    const word = pattern.exec(sentence)?.[0];
    return word && word !== word.toUpperCase() ? [`“${word}”: ${write}`] : [];
  });
  if (OPENING.test(sentence) && !sentence.endsWith('?')) faults.push(`“${sentence.slice(0, 40)} …”: say who does what`);
  if (long && sentence.split(/\s+/).length > LONG_SENTENCE_WORDS)
    faults.push(`“${sentence.slice(0, 40)} …” has over ${LONG_SENTENCE_WORDS} words`);
  return faults;
}

/** Splits a text into sentences; inline code counts as one word, whatever it contains. */
function splitSentences(text) {
  return text
    .replace(/`[^`]*`|\$\{[^}]*\}|https?:\S+/g, '◇')
    .replace(/\*\*|\[|\]\([^)]*\)/g, '')
    .split(/(?<=[.!?;:])\s+/)
    .map((sentence) => sentence.trim());
}

/** Lists the paragraphs of comments; a tag such as `@param` starts a new one. */
function listComments(source) {
  const blocks = [];
  let inBlock = false;
  for (const [at, raw] of source.split('\n').entries()) {
    const open = /^\s*\/\*\*?/.test(raw);
    const own = open || inBlock;
    const text = own
      ? raw.replace(/^\s*(?:\/\*\*?|\*(?!\/))?\s?|\s*\*\/.*$/g, '')
      : /(?:^|\s)\/\/ (.*)$/.exec(raw)?.[1];
    inBlock = own && !raw.includes('*/');
    if (text === undefined || /biome-ignore|https?:$/.test(text)) continue;
    addLine(blocks, at + 1, text, !own && !/^\s*\/\//.test(raw));
  }
  return blocks;
}

/** Appends a line to the last block if it continues the block's paragraph. */
function addLine(blocks, line, text, alone = false) {
  const last = blocks.at(-1);
  const tag = /^\s*(?:@\w+(?: \{[^}]*\})?(?: [\w.]+ )?|[-*] |\d+\. |#+ |> )/.exec(text)?.[0] ?? '';
  const rest = text.slice(tag.length).trim();
  if (tag || alone || !rest || !last?.open || last.end !== line - 1)
    blocks.push({ line, end: line, text: rest, open: !alone && rest !== '' });
  else Object.assign(last, { text: `${last.text} ${rest}`, end: line });
}

/** Lists the names of tests, or the dashboard's strings. */
function listStrings(file, source) {
  const isTest = /\.test\.tsx?$/.test(file);
  if (!isTest && !file.startsWith('dashboard/text/')) return [];
  const pattern = isTest
    ? /\b(?:it|test|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(['`"])((?:(?!\1)[^\\\n]|\\.)*)\1/g
    : /(['`])((?:(?!\1)[^\\\n]|\\.)* (?:(?!\1)[^\\\n]|\\.)*)\1/g;
  const code = source.replace(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, (line) => ' '.repeat(line.length));
  return [...code.matchAll(pattern)].map((match) => ({
    line: source.slice(0, match.index).split('\n').length,
    text: match[2],
  }));
}

/** Lists the paragraphs, items and cells of a Markdown page, without headings and blocks of code. */
function listParagraphs(source) {
  const blocks = [];
  let fenced = false;
  for (const [at, raw] of source.split('\n').entries()) {
    if (/^\s*```/.test(raw)) fenced = !fenced;
    else if (/^\s*\|/.test(raw)) for (const cell of raw.split('|')) addLine(blocks, at + 1, cell, true);
    else if (!fenced && !raw.startsWith('#')) addLine(blocks, at + 1, raw);
  }
  return blocks;
}
