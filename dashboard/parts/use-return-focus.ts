import { useEffect, useState } from 'react';

/**
 * Returns the focus to the element that had it when this dialog was mounted. For dialogs that are mounted only while
 * they are open: Mantine returns the focus only from dialogs that stay mounted.
 */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // The dialog is still in the page now. Another element may take the focus when the dialog is gone.
      setTimeout(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
      });
    },
    [before],
  );
}
