import { useDebouncedCallback } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { type ChangeEvent, useEffect, useRef, useState } from 'react';

/** Longer than the usual time between two keys. */
const TYPING_MS = 300;

/**
 * Returns a function to call after each key press. It calls `report` 300 ms after the last key press, unless another
 * screen was opened meanwhile: a change of the URL would then lead back to this screen.
 */
function useDebouncedText(report: (typed: string) => void): (typed: string) => void {
  const { history } = useRouter();
  const later = useDebouncedCallback((typed: string, pathname: string) => {
    if (history.location.pathname === pathname) report(typed);
  }, TYPING_MS);
  return (typed) => later(typed, history.location.pathname);
}

/**
 * Returns the properties of a text field whose value is a filter, which may also change elsewhere, for example by the
 * Back button. The field reports its trimmed text shortly after the last key press; undefined once it is empty.
 */
export function useFilterText(value: string | undefined, onChange: (value: string | undefined) => void) {
  const [typed, setTyped] = useState(value ?? '');
  const reported = useRef(value);
  useEffect(() => {
    // The URL returns the reported text trimmed, perhaps after more key presses. It must not replace the typed text.
    if (value !== reported.current) setTyped(value ?? '');
    reported.current = value;
  }, [value]);
  const report = useDebouncedText((next) => {
    reported.current = next.trim() || undefined;
    onChange(reported.current);
  });
  return {
    value: typed,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
      setTyped(currentTarget.value);
      report(currentTarget.value);
    },
  };
}
