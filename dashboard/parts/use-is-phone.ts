import { useMediaQuery } from '@mantine/hooks';

/** Tells whether the window is at most 768 px wide (48em), where the style sheets show one column. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
}
