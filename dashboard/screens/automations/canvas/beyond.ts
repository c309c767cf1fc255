import type { Viewport } from '@xyflow/react';
import type { CanvasPosition } from '../graph/graph.ts';
import { NODE } from '../graph/layout.ts';

export const SIDES = ['left', 'right', 'up', 'down'] as const;
export type Side = (typeof SIDES)[number];

interface Size {
  width: number;
  height: number;
}

/** Pixels between the edge of the canvas and the last step on that side. */
const MARGIN = 48;
/** The largest move, as a share of the canvas, so that steps at the edge stay visible. */
const LARGEST_MOVE = 0.75;

/** Returns the number of steps whose middle is outside the canvas, by side. */
export function countStepsBeyond(size: Size, view: Viewport, steps: Iterable<CanvasPosition>): Record<Side, number> {
  const counts = { left: 0, right: 0, up: 0, down: 0 };
  for (const step of steps) {
    const x = (step.x + NODE.width / 2) * view.zoom + view.x;
    const y = (step.y + NODE.height / 2) * view.zoom + view.y;
    if (x < 0) counts.left += 1;
    if (x > size.width) counts.right += 1;
    if (y < 0) counts.up += 1;
    if (y > size.height) counts.down += 1;
  }
  return counts;
}

/** Returns the view after a move towards the steps beyond a side, no further than to the last step. */
export function moveViewTowards(side: Side, size: Size, view: Viewport, steps: Iterable<CanvasPosition>): Viewport {
  const nodes = [...steps];
  const left = nodes.map(({ x }) => x * view.zoom + view.x);
  const top = nodes.map(({ y }) => y * view.zoom + view.y);
  const [width, height] = [NODE.width * view.zoom, NODE.height * view.zoom];
  const [across, down] = [size.width * LARGEST_MOVE, size.height * LARGEST_MOVE];
  switch (side) {
    case 'left':
      return { ...view, x: view.x + Math.min(across, MARGIN - Math.min(...left)) };
    case 'right':
      return { ...view, x: view.x - Math.min(across, Math.max(...left) + width + MARGIN - size.width) };
    case 'up':
      return { ...view, y: view.y + Math.min(down, MARGIN - Math.min(...top)) };
    case 'down':
      return { ...view, y: view.y - Math.min(down, Math.max(...top) + height + MARGIN - size.height) };
  }
}
