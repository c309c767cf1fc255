import type { RouterHistory } from '@tanstack/react-router';

/** The URLs in the history of this tab by their index, as far as this page has recorded them. */
const trail: (string | undefined)[] = [];

/** Records the URL at each index of the history. */
export function recordVisitedUrls(history: RouterHistory): void {
  const recordUrl = () => {
    trail[getHistoryIndex(history)] = history.location.pathname;
  };
  recordUrl();
  history.subscribe(recordUrl);
}

/**
 * Returns whether the Back button leads to this path, regardless of its filters. Undefined if unknown, because the
 * page was reloaded in between.
 */
export function isPreviousUrl(history: RouterHistory, pathname: string): boolean | undefined {
  const place = getHistoryIndex(history);
  if (place === 0) return false;
  const before = trail[place - 1];
  return before === undefined ? undefined : before === pathname;
}

function getHistoryIndex({ location }: RouterHistory): number {
  return location.state.__TSR_index;
}
