import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSidebarLinks } from './nav.ts';

/** The maximum time between the keys `g` and the letter of a screen. */
const SECOND_KEY_MS = 1_200;

/** The keys that open the search on this computer, as its keyboard names them. `/` opens the search too. */
export const SEARCH_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

/**
 * Handles the keys of the whole app: `SEARCH_KEYS` and `/` open the search, `?` shows the keys, `g` and a letter open a
 * screen. Keys have no effect while the user types in a field.
 */
export function useShortcuts() {
  const [opened, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const nav = useSidebarLinks();
  const gPressedAt = useRef(0);
  useHotkeys([
    ['mod+K', () => spotlight.open()],
    ['/', () => spotlight.open()],
    ['shift+?', open],
    ['?', open],
    [
      'g',
      () => {
        gPressedAt.current = Date.now();
      },
    ],
  ]);
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (Date.now() - gPressedAt.current > SECOND_KEY_MS || isTyping(event)) return;
      const subject = nav.find(({ key }) => key === event.key);
      if (!subject) return;
      gPressedAt.current = 0;
      void navigate({ to: subject.to });
    };
    window.addEventListener('keydown', handleKey);
    return () => window.removeEventListener('keydown', handleKey);
  }, [navigate, nav]);
  return { opened, open, close };
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
