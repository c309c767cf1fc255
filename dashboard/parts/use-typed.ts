import { useDebouncedCallback } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';

/** Longer than the usual time between two keys. */
const TYPING_MS = 300;

/**
 * Reports the typed text shortly after the last key press. It does not report if another screen is opening, because
 * the new search parameter would lead back to this screen.
 */
export function useTyped(tell: (typed: string) => void): (typed: string) => void {
  const { history } = useRouter();
  const later = useDebouncedCallback((typed: string, pathname: string) => {
    if (history.location.pathname === pathname) tell(typed);
  }, TYPING_MS);
  return (typed) => later(typed, history.location.pathname);
}
