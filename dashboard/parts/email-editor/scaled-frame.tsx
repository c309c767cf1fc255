import { Box } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useState } from 'react';
import { FlickerFreeFrame } from './flicker-free-frame.tsx';

/** Shows an email with the layout for a screen of this width, scaled down to the available space. */
export function ScaledFrame({
  html,
  screen,
  height,
  isWhole = false,
  isBare = false,
  colorScheme,
  title,
}: {
  html: string;
  /** The screen width for the layout, in pixels. */
  screen: number;
  /** The height of the frame on the page, in pixels. */
  height: number;
  /** Shows the whole email. `height` is used until the email is measured. */
  isWhole?: boolean;
  /** Hides the border. */
  isBare?: boolean;
  colorScheme?: 'light' | 'dark';
  title?: string;
}) {
  const { ref, width } = useElementSize();
  const [emailHeight, setEmailHeight] = useState<number>();
  const scale = width > 0 ? Math.min(1, width / screen) : 1;
  const shownHeight = isWhole && emailHeight !== undefined ? emailHeight * scale : height;
  return (
    <Box ref={ref} h={shownHeight} style={{ overflow: 'hidden', position: 'relative' }}>
      {width > 0 && (
        <Box
          w={screen}
          style={{
            position: 'absolute',
            left: Math.max(0, (width - screen * scale) / 2),
            transform: `scale(${scale})`,
            transformOrigin: 'top left',
          }}
        >
          <FlickerFreeFrame
            html={html}
            height={shownHeight / scale}
            isBare={isBare}
            {...(isWhole && { onHeight: setEmailHeight })}
            {...(colorScheme && { colorScheme })}
            {...(title && { title })}
          />
        </Box>
      )}
    </Box>
  );
}
