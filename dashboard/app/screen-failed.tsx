import type { ErrorComponentProps } from '@tanstack/react-router';
import { Failed } from '../parts/failed.tsx';

/** Shown instead of a screen that failed to render. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return <Failed error={error} retry={reset} />;
}
