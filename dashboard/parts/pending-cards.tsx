import { Box, Card, SimpleGrid, type SimpleGridProps, VisuallyHidden } from '@mantine/core';
import { text } from '../text/text.ts';
import { useIsSlow } from './loading.tsx';

/** Two rows of four cards, which fill a laptop's window. */
const CARDS = 8;
const TEXT_WIDTHS = ['70%', '45%', '30%'];

/** Shows gray cards instead of cards with an image and three lines, while the first cards load. */
export function PendingCards({
  cols,
  imageHeight,
}: {
  cols: SimpleGridProps['cols'];
  /** In pixels. */
  imageHeight: number;
}) {
  const isSlow = useIsSlow();
  return (
    <div role="status" aria-busy="true">
      <VisuallyHidden>{text.parts.loading}</VisuallyHidden>
      <SimpleGrid cols={cols} inert style={{ visibility: isSlow ? undefined : 'hidden' }}>
        {Array.from({ length: CARDS }, (_, card) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: all cards are the same
          <Card key={card} withBorder padding="sm">
            <Card.Section withBorder>
              <Box h={imageHeight} bg="var(--color-sunken)" />
            </Card.Section>
            {TEXT_WIDTHS.map((width) => (
              <span key={width} className="pending-text" style={{ width, marginTop: 10 }} />
            ))}
          </Card>
        ))}
      </SimpleGrid>
    </div>
  );
}
