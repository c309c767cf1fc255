import type { KeyboardEvent } from 'react';

/**
 * Chooses the first option of an open list on Enter, if Mantine chose none. Mantine marks the first option when the text
 * changes, but not when options arrive later from the API. A list without a search opens on Enter, and chooses nothing.
 */
export function chooseFirstOption({ key, currentTarget: input }: KeyboardEvent<HTMLInputElement>): void {
  if (key !== 'Enter' || input.readOnly || input.value.trim() === '') return;
  // Mantine handles the key after this handler. If it chose an option, the list is closed then, and nothing controls it.
  setTimeout(() => {
    const list = document.getElementById(input.getAttribute('aria-controls') ?? '');
    list?.querySelector<HTMLElement>('[data-combobox-option]:not([data-combobox-disabled])')?.click();
  });
}
