import { VisuallyHidden } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { text } from '../text/text.ts';

/** A faster response shows no placeholder, because the placeholder would only flicker. */
const SHOWN_AFTER_MS = 200;

/** Shows a placeholder in the shape of the data while the data loads. Nothing is visible for 200 ms. */
export function Placeholder({
  isBoxless = false,
  children,
}: {
  /** Lays out the children as if they were children of the parent, for example as columns of the parent. */
  isBoxless?: boolean;
  children: ReactNode;
}) {
  const display = isBoxless ? 'contents' : undefined;
  return (
    <div role="status" aria-busy="true" style={{ display }}>
      <VisuallyHidden>{text.parts.loading}</VisuallyHidden>
      <WhenSlow display={display}>{children}</WhenSlow>
    </div>
  );
}

/** Hides a part of a placeholder for 200 ms. Its space is reserved from the start. */
export function WhenSlow({ display, children }: { display?: 'contents' | undefined; children: ReactNode }) {
  const isShown = useIsSlow();
  return (
    <div inert style={{ display, visibility: isShown ? undefined : 'hidden' }}>
      {children}
    </div>
  );
}

/** Tells whether the component has been mounted for 200 ms, so that a placeholder is worth showing. */
function useIsSlow(): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isSlow;
}
