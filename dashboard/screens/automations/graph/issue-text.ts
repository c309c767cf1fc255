import { text } from '../../../text/text.ts';

const t = text.automations.issues;

/**
 * Patterns of the API's error messages for a graph, each with the editor's text. The groups of a pattern become the
 * arguments. All these errors have the code `custom`, so only their messages distinguish them.
 * `test/dashboard/error-texts.test.ts` checks the patterns against the API's rules.
 */
const ISSUES: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^the workflow is started by an event, but none is named$/, () => t.noTrigger],
  [/^the workflow has no steps$/, () => t.noSteps],
  [/^the workflow has no entry step: patch entryStepId$/, () => t.noEntry],
  [/^has no template$/, () => t.noTemplate],
  [/^has no body$/, () => t.noText],
  [/^has no sender on a verified domain, nor has its template$/, () => t.noSender],
  [/^has no “(.*)” branch$/s, (branch = '') => t.noBranch(branch)],
  [/^cannot be reached from the entry$/, () => t.unreachable],
  [
    /^is in a loop that repeats after (\S+) s; a loop must wait at least (\S+) s$/,
    (waits = '', least = '') => t.loop(waits, least),
  ],
];

/** Returns the editor's text for an error of a graph; undefined if the editor has none. */
export function findIssueText(message: string): string | undefined {
  for (const [pattern, describe] of ISSUES) {
    const match = pattern.exec(message);
    if (match) return describe(...match.slice(1));
  }
  return undefined;
}

/**
 * Returns the editor's text for an error of a step's settings, with the field of its form. A general message of a
 * schema, such as “Must be a number”, is replaced by the name of the field. The messages of the API's own rules are
 * kept, because they say more.
 */
export function findSettingIssue(message: string): { field: string; message: string } | undefined {
  const match = /^is not configured: ([^:]+): (.*)$/s.exec(message);
  if (!match) return undefined;
  const [, field = '', why = ''] = match;
  const name = t.settings[field] ?? field;
  const isFromSchema = /^(Invalid|Too (small|big)|Must be (one of |[a-z ]+$))/.test(why);
  return { field, message: isFromSchema ? t.notSet(name) : t.wrong(name, why.replace(/\.$/, '')) };
}
