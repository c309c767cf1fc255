import { Box } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { SteadyFrame } from './steady-frame.tsx';

/** Shows an email with the layout for a screen of this width, scaled down to the available space. */
export function ScaledFrame({
  html,
  screen,
  height,
  colorScheme,
  title,
}: {
  html: string;
  /** The screen width for the layout, in pixels. */
  screen: number;
  /** The height of the frame on the page, in pixels. */
  height: number;
  colorScheme?: 'light' | 'dark';
  title?: string;
}) {
  const { ref, width } = useElementSize();
  const scale = width > 0 ? Math.min(1, width / screen) : 1;
  return (
    <Box ref={ref} h={height} style={{ overflow: 'hidden', position: 'relative' }}>
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
          <SteadyFrame
            html={html}
            height={height / scale}
            {...(colorScheme && { colorScheme })}
            {...(title && { title })}
          />
        </Box>
      )}
    </Box>
  );
}
