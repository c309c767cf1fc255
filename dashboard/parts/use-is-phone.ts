import { useMediaQuery } from '@mantine/hooks';

/** Tells whether the window is as narrow as a phone, where the style sheets show one column. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
}
