import type { KeyboardEvent } from 'react';

/** Keeps Enter in a field from submitting a long form, of which the user has filled in only a part. */
export function ignoreEnterInField(event: KeyboardEvent): void {
  if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault();
}
