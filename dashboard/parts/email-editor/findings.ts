import type { Finding } from '../../../packages/client/src/operations.generated.ts';
import { text } from '../../text/text.ts';
import { formatCount } from '../count-link.tsx';

/** Describes a finding by its code. The API's own sentence is only shown for a code that this release does not know. */
export function describeFinding({ code, details, message }: Pick<Finding, 'code' | 'details' | 'message'>): string {
  // Only marketing email gets a footer.
  if (code === 'no_unsubscribe_link' && details.footer === false) return text.emailEditor.noUnsubscribeFooter;
  const texts: Readonly<Record<string, string>> = text.emailEditor.findingTexts;
  return texts[code] ?? message;
}

/** Returns the details of a finding, one per line: variables with their number of contacts, links, images, senders. */
export function formatDetails({ variables, links, images, from }: Finding['details']): string[] {
  const lines = [
    ...Object.entries(isCounts(variables) ? variables : {}).map(
      ([name, n]) => `{{${name}}}: ${text.emailEditor.missingFor(n, formatCount(n))}`,
    ),
    ...listStrings(links),
    ...listStrings(images),
    ...(typeof from === 'string' ? [from] : []),
  ];
  return [...new Set(lines)];
}

function isCounts(value: unknown): value is Record<string, number> {
  return typeof value === 'object' && value !== null && Object.values(value).every((n) => typeof n === 'number');
}

/** Returns the strings of a list; empty if the value is not a list. */
export function listStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
