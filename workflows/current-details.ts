import { getCurrentDetails, setCurrentDetails } from '@temporalio/workflow';

/**
 * A paragraph that looks empty. The paragraph contains a no-break space, because Markdown ignores blank lines at the
 * end.
 */
const LAST_LINE = '\n\n\u00a0';

/**
 * Shows Markdown as the current details of the workflow in the Temporal UI. The UI 2.42 cuts off the last line if the
 * details have several lines, so an empty line is added.
 */
export function showDetails(markdown: string): void {
  setCurrentDetails(markdown + LAST_LINE);
}

/** Inserts a line before the current details: the workflow was cancelled, with the reason if it is known. */
export function showCancelled(reason: string | null): void {
  const before = getCurrentDetails().replace(LAST_LINE, '');
  showDetails(`**CANCELLED${reason === null ? '' : `: ${reason}`}**\n\n${before}`);
}
