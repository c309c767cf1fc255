import { Button } from '@mantine/core';
import { IconArrowDown, IconArrowLeft, IconArrowRight, IconArrowUp } from '@tabler/icons-react';
import { useReactFlow, useStore, useViewport } from '@xyflow/react';
import { text } from '../../../text/text.ts';
import type { CanvasPosition } from '../graph/graph.ts';
import { countStepsBeyond, moveViewTowards, SIDES } from './beyond.ts';
import classes from './canvas.module.css';

const ICONS = { left: IconArrowLeft, right: IconArrowRight, up: IconArrowUp, down: IconArrowDown };

/** Fades the edges of the canvas beyond which there are more steps. A button at the edge counts them, and moves there. */
export function MoreSteps({ positions }: { positions: ReadonlyMap<string, CanvasPosition> }) {
  const { setViewport } = useReactFlow();
  const view = useViewport();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  if (width === 0) return null;
  const size = { width, height };
  const counts = countStepsBeyond(size, view, positions.values());
  return SIDES.filter((side) => counts[side] > 0).map((side) => {
    const Icon = ICONS[side];
    const label = text.automations.moreSteps[side](counts[side]);
    return (
      <div key={side} className={classes.more} data-side={side}>
        <Button
          className={classes.moreButton}
          variant="default"
          size="compact-xs"
          radius="xl"
          leftSection={<Icon size={14} stroke={1.75} aria-hidden />}
          title={label}
          aria-label={label}
          onClick={() => void setViewport(moveViewTowards(side, size, view, positions.values()), { duration: 150 })}
        >
          {text.automations.moreCount(counts[side])}
        </Button>
      </div>
    );
  });
}
