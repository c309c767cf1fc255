import { useMediaQuery } from '@mantine/hooks';
import type { ComponentProps } from 'react';
import { ScaledFrame } from './scaled-frame.tsx';

/** Widths of the mail clients of a laptop and of a phone, in pixels. */
const SCREENS = { wide: 640, narrow: 390 };
/** Height of an email that is not measured yet, in pixels. */
const HEIGHT = 320;

/** Shows a whole email as a mail client of this screen does, so that the page scrolls and not the frame. */
export function WholeEmail(email: Pick<ComponentProps<typeof ScaledFrame>, 'html' | 'title' | 'isBare'>) {
  const isWide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false });
  return <ScaledFrame {...email} screen={isWide ? SCREENS.wide : SCREENS.narrow} height={HEIGHT} isWhole />;
}
