import { Box } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { text } from '../../text/text.ts';
import { withoutLiquid } from '../without-liquid.ts';
import { ScaledFrame } from './scaled-frame.tsx';

/** The usual height in pixels. */
export const THUMBNAIL_HEIGHT = 180;
const SCREEN = 680;
/** The frame has round corners at the bottom, and is higher than the visible area by more than their radius. */
const HIDDEN_HEIGHT = 12;

/**
 * A small preview of an email. The preview is drawn when it scrolls into view. Without a body it loads the template
 * `id`.
 */
export function Thumbnail({
  template: { id, name, body },
  height = THUMBNAIL_HEIGHT,
}: {
  template: { id: string; name: string; body?: string | undefined };
  /** In pixels. */
  height?: number;
}) {
  const { ref, inViewport } = useInViewport();
  const template = useQuery({
    ...queryFor('getTemplate', { params: { id } }),
    enabled: inViewport && body === undefined,
  });
  const html = body ?? template.data?.body;
  return (
    <Box
      ref={ref}
      h={height}
      inert
      aria-hidden
      style={{ pointerEvents: 'none', background: '#fff', overflow: 'hidden' }}
    >
      {inViewport && html !== undefined && (
        <ScaledFrame
          html={withoutLiquid(html)}
          screen={SCREEN}
          height={height + HIDDEN_HEIGHT}
          isBare
          title={text.templates.previewOf(name.slice(0, 80))}
        />
      )}
    </Box>
  );
}
