import type { RouterHistory } from '@tanstack/react-router';

/** Addresses of this tab's history by their places in it, as far as this page has seen them. */
const trail: (string | undefined)[] = [];

/** Records which address is at which position of the history. */
export function followTrail(history: RouterHistory): void {
  const note = () => {
    trail[placeOf(history)] = history.location.pathname;
  };
  note();
  history.subscribe(note);
}

/**
 * Returns whether the way back leads to this address, filters aside. Undefined if that is unknown, because the page
 * was reloaded in between.
 */
export function leadsBackTo(history: RouterHistory, pathname: string): boolean | undefined {
  const place = placeOf(history);
  if (place === 0) return false;
  const before = trail[place - 1];
  return before === undefined ? undefined : before === pathname;
}

function placeOf({ location }: RouterHistory): number {
  return location.state.__TSR_index;
}
