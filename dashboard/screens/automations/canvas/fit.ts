import type { Viewport } from '@xyflow/react';
import type { CanvasPosition } from '../graph/graph.ts';
import { NODE } from '../graph/layout.ts';

/** The text of a step is 13 px at 100%, and not readable below this zoom. */
export const MIN_ZOOM = 0.75;
/** Pixels at both sides of the steps and below them. */
const MARGIN = 24;
/** Pixels above the steps. */
const TOP = 32;

/**
 * Returns the view of the whole automation at 100% or less, but never below 75%. If the automation
 * is larger, the view shows its start, and the user pans to the rest.
 */
export function computeInitialView(
  size: { width: number; height: number },
  start: CanvasPosition,
  steps: Iterable<CanvasPosition>,
): Viewport {
  const nodes = [start, ...steps];
  const left = Math.min(...nodes.map(({ x }) => x));
  const top = Math.min(...nodes.map(({ y }) => y));
  const width = Math.max(...nodes.map(({ x }) => x)) + NODE.width - left;
  const height = Math.max(...nodes.map(({ y }) => y)) + NODE.height - top;
  const fittingZoom = Math.min(1, (size.width - 2 * MARGIN) / width, (size.height - TOP - MARGIN) / height);
  const zoom = Math.max(MIN_ZOOM, fittingZoom);
  const fitsAcross = width * zoom <= size.width - 2 * MARGIN;
  const middle = fitsAcross ? left + width / 2 : start.x + NODE.width / 2;
  const first = fittingZoom < MIN_ZOOM ? start.y : top;
  return { x: size.width / 2 - middle * zoom, y: TOP - first * zoom, zoom };
}
