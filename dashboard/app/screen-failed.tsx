import type { ErrorComponentProps } from '@tanstack/react-router';
import { Failed } from '../parts/failed.tsx';

/** Stands in for a screen that could not be shown. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return <Failed error={error} retry={reset} />;
}
