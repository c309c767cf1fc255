import { Box } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { text } from '../text/text.ts';
import { fillWithBackground, holdLinks, withHeldLinks } from './email-document.ts';

/**
 * Bounds of the frame's height. The frame of a short email has the minimum height. An email that is longer than the
 * maximum scrolls within its frame.
 */
const HEIGHT_PX = { least: 160, most: 20_000 };
/** The lines above and below the email. */
const BORDERS_PX = 2;

/**
 * Shows the HTML of an email in isolation. Scripts, forms, pop-ups and links do not work. Images load as in an email
 * client. The rest of a frame that is higher than its email has the background of the email.
 */
export function EmailFrame({
  html,
  height = 560,
  width = '100%',
  title = text.parts.emailTitle,
  colorScheme,
  isBare = false,
  onLoad,
  onHeight,
}: {
  html: string;
  height?: number;
  width?: number | string;
  title?: string;
  /** The color scheme of the email client. */
  colorScheme?: 'light' | 'dark';
  /** Hides the border, because a card around the frame has one. */
  isBare?: boolean;
  /** Called when the email has loaded. */
  onLoad?: () => void;
  /**
   * Called with the height in pixels that shows the whole email, within `HEIGHT_PX`: when the email has loaded, and
   * when the width of the frame changes.
   */
  onHeight?: ((px: number) => void) | undefined;
}) {
  const ref = useRef<HTMLIFrameElement>(null);
  const scheme = colorScheme ?? 'light';
  const measure = () => {
    const px = ref.current && measureEmailHeight(ref.current);
    if (px) onHeight?.(px);
  };
  const latest = useRef(measure);
  useEffect(() => {
    latest.current = measure;
  });
  useEffect(() => {
    const frame = ref.current;
    if (!frame) return;
    let before = frame.clientWidth;
    const observer = new ResizeObserver(() => {
      if (frame.clientWidth !== before) latest.current();
      before = frame.clientWidth;
    });
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  return (
    <Box
      ref={ref}
      component="iframe"
      title={title}
      // Without `allow-scripts` no script runs. `allow-same-origin` lets the page read the email; nothing in the frame
      // can use it.
      sandbox="allow-same-origin"
      srcDoc={withHeldLinks(html)}
      onLoad={() => {
        const email = ref.current?.contentDocument;
        if (email) {
          holdLinks(email);
          fillWithBackground(email);
        }
        measure();
        onLoad?.();
      }}
      referrerPolicy="no-referrer"
      w={width}
      h={height}
      style={{
        display: 'block',
        border: isBare ? 0 : '1px solid var(--mantine-color-default-border)',
        borderRadius: isBare ? '0 0 var(--radius-card) var(--radius-card)' : 'var(--mantine-radius-md)',
        background: scheme === 'dark' ? '#1b1e25' : '#fff',
        colorScheme: scheme,
        maxWidth: '100%',
      }}
    />
  );
}

/** Returns the height of a frame that shows its email without scrolling; undefined if it cannot be measured. */
function measureEmailHeight(frame: HTMLIFrameElement): number | undefined {
  const root = frame.contentDocument?.documentElement;
  if (!root) return undefined;
  const before = frame.style.height;
  // Measures in a low frame. An email that is as high as its window would otherwise grow with each measurement.
  frame.style.height = `${HEIGHT_PX.least}px`;
  const px = root.scrollHeight + BORDERS_PX;
  frame.style.height = before;
  return Math.min(HEIGHT_PX.most, Math.max(HEIGHT_PX.least, px));
}
