import { Box } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ItemOf } from '../../api/queries.ts';
import { queryFor } from '../../api/queries.ts';
import { ScaledFrame } from '../../parts/mail-editor/scaled-frame.tsx';
import { withoutLiquid } from '../../parts/without-liquid.ts';
import { text } from '../../text/text.ts';

const HEIGHT = 180;
const SCREEN = 680;

/** A small picture of a template. It is drawn when it scrolls into view, and loaded if the list omitted its body. */
export function Thumbnail({ template: { id, name, body } }: { template: ItemOf<'listTemplates'> }) {
  const { ref, inViewport } = useInViewport();
  const whole = useQuery({ ...queryFor('getTemplate', { params: { id } }), enabled: inViewport && body === undefined });
  const said = body ?? whole.data?.body;
  return (
    <Box
      ref={ref}
      h={HEIGHT}
      inert
      aria-hidden
      style={{ pointerEvents: 'none', background: '#fff', overflow: 'hidden' }}
    >
      {inViewport && said !== undefined && (
        <ScaledFrame
          html={withoutLiquid(said)}
          screen={SCREEN}
          height={HEIGHT}
          title={text.templates.looksLike(name.slice(0, 80))}
        />
      )}
    </Box>
  );
}
