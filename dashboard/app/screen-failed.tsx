import type { ErrorComponentProps } from '@tanstack/react-router';
import { Failed } from '../parts/failed.tsx';

/** Replaces a screen that could not be shown. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return <Failed error={error} retry={reset} />;
}
