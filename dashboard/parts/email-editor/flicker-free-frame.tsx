import { Box } from '@mantine/core';
import { type ComponentProps, useState } from 'react';
import { EmailFrame } from '../email-frame.tsx';

const UNSEEN = { position: 'absolute', inset: 0, visibility: 'hidden' } as const;

/** A frame that shows the previous email until the new one is drawn, so that nothing flickers during typing. */
export function FlickerFreeFrame({ html, ...frame }: ComponentProps<typeof EmailFrame>) {
  const [shown, setShown] = useState(html);
  const frames = html === shown ? [shown] : [shown, html];
  return (
    <Box pos="relative">
      {frames.map((one) => (
        // The email is the React key, so the frame that was drawn while hidden is reused when it is shown.
        <Box key={one} style={one === shown ? undefined : UNSEEN} inert={one !== shown} aria-hidden={one !== shown}>
          <EmailFrame html={one} {...frame} onLoad={() => setShown(one)} />
        </Box>
      ))}
    </Box>
  );
}
