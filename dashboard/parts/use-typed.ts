import { useDebouncedCallback } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';

/** Long enough for the next letter. */
const TYPING_MS = 300;

/**
 * Tells what was typed when the last key is a moment ago. Not once another screen is on its way: to put the word into
 * the address then would lead back.
 */
export function useTyped(tell: (typed: string) => void): (typed: string) => void {
  const { history } = useRouter();
  const later = useDebouncedCallback((typed: string, pathname: string) => {
    if (history.location.pathname === pathname) tell(typed);
  }, TYPING_MS);
  return (typed) => later(typed, history.location.pathname);
}
