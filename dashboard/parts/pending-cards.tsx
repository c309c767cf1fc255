import { Box, Card, SimpleGrid, type SimpleGridProps } from '@mantine/core';
import { Placeholder } from './loading.tsx';
import { Repeat } from './pending-lines.tsx';

/** Two rows of four cards, which fill a laptop's window. */
const CARDS = 8;
const TEXT_WIDTHS = ['70%', '45%', '30%'];

interface PendingGrid {
  cols: SimpleGridProps['cols'];
  /** In pixels. */
  imageHeight: number;
}

/** Shows gray cards instead of cards with an image and three lines, while the first cards load. */
export function PendingCards(p: PendingGrid) {
  return (
    <Placeholder>
      <GrayCards {...p} />
    </Placeholder>
  );
}

/** The placeholder of cards as it looks. */
export function GrayCards({ cols, imageHeight }: PendingGrid) {
  return (
    <SimpleGrid cols={cols}>
      <Repeat count={CARDS}>
        <Card withBorder padding="sm">
          <Card.Section withBorder>
            <Box h={imageHeight} bg="var(--color-sunken)" />
          </Card.Section>
          {TEXT_WIDTHS.map((width) => (
            <span key={width} className="pending-text" style={{ width, marginTop: 10 }} />
          ))}
        </Card>
      </Repeat>
    </SimpleGrid>
  );
}
