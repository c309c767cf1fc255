import type { KeyboardEvent } from 'react';

/**
 * Chooses the first option of an open list on Enter, if Mantine chose none. Mantine marks the first option when the
 * text changes, but not when options arrive later from the API. A list without a search opens on Enter, and chooses
 * nothing.
 */
export function chooseFirstOption({ key, currentTarget: input }: KeyboardEvent<HTMLInputElement>): void {
  if (key !== 'Enter' || input.readOnly || input.value.trim() === '') return;
  // Mantine handles the key after this handler. If Mantine chooses an option, it closes the list and removes
  // `aria-controls`, so the code below finds no list.
  setTimeout(() => {
    const list = document.getElementById(input.getAttribute('aria-controls') ?? '');
    list?.querySelector<HTMLElement>('[data-combobox-option]:not([data-combobox-disabled])')?.click();
  });
}
