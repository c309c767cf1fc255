import { text } from '../../../text/text.ts';

const t = text.automations.issues;

/** The API's errors of a graph, and what the editor says. Parts of the error follow as arguments. */
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
    /^is in a loop that waits (\S+) s a lap; one takes at least (\S+) s$/,
    (waits = '', least = '') => t.loop(waits, least),
  ],
];

/** Says an error of a graph in the words of the editor. Undefined for errors without own words. */
export function issueText(message: string): string | undefined {
  for (const [pattern, say] of ISSUES) {
    const found = pattern.exec(message);
    if (found) return say(...found.slice(1));
  }
  return undefined;
}

/**
 * Says an error of a step's settings, with the field of its form. A schema's message, such as “Must be a number”,
 * helps no user of a form; the messages of the API's own rules do.
 */
export function settingIssue(message: string): { field: string; message: string } | undefined {
  const found = /^is not configured: ([^:]+): (.*)$/s.exec(message);
  if (!found) return undefined;
  const [, field = '', why = ''] = found;
  const name = t.settings[field] ?? field;
  const isSchemas = /^(Invalid|Too (small|big)|Must be (one of |[a-z ]+$))/.test(why);
  return { field, message: isSchemas ? t.notSet(name) : t.wrong(name, why.replace(/\.$/, '')) };
}
