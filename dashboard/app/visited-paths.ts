import type { RouterHistory } from '@tanstack/react-router';

/** The paths in the history of this tab by their index. Entries from before the page was loaded are missing. */
const paths: (string | undefined)[] = [];

/** Records the path at each index of the history, without its query. */
export function recordVisitedPaths(history: RouterHistory): void {
  const recordPath = () => {
    paths[getHistoryIndex(history)] = history.location.pathname;
  };
  recordPath();
  history.subscribe(recordPath);
}

/**
 * Returns whether the Back button leads to this path, regardless of its filters. Undefined if unknown, because the
 * page was reloaded in between.
 */
export function isPreviousPath(history: RouterHistory, pathname: string): boolean | undefined {
  const index = getHistoryIndex(history);
  if (index === 0) return false;
  const previous = paths[index - 1];
  return previous === undefined ? undefined : previous === pathname;
}

function getHistoryIndex({ location }: RouterHistory): number {
  return location.state.__TSR_index;
}
