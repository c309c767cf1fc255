import { getCurrentDetails, setCurrentDetails } from '@temporalio/workflow';

/** A paragraph with a no-break space. Blank lines at the end of Markdown would take no space. */
const LAST_LINE = '\n\n\u00a0';

/**
 * Shows Markdown as the current details of the workflow. Temporal's UI 2.42 cuts off the last line of details that
 * have several, so an empty line follows.
 */
export function showDetails(markdown: string): void {
  setCurrentDetails(markdown + LAST_LINE);
}

/** Adds before the current details that the workflow was cancelled, and why if that is known. */
export function showCancelled(reason: string | null): void {
  const before = getCurrentDetails().replace(LAST_LINE, '');
  showDetails(`**CANCELLED${reason === null ? '' : `: ${reason}`}**\n\n${before}`);
}
