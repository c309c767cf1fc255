import type { CanvasPosition } from '../graph/graph.ts';
import { NODE } from '../graph/layout.ts';

/**
 * The lane of a line is the x coordinate of its vertical part between two steps. `TURN` is the distance in pixels from
 * the upper step to the point where the line turns towards its lane. The label of a branch is at this point.
 */
export const TURN = { plain: 18, branch: 30, crowded: 16 };
/** Distance in pixels from the point where the line leaves its lane to the lower step. */
const APPROACH = 10;
/**
 * Half of a handle's height. A line starts and ends in the middle of a handle, half of which is outside of the step.
 */
const HANDLE = 6;
const RADIUS = 8;
/** Pixels between a line and a step that it passes. */
const CLEAR = 20;

/**
 * Returns the x coordinate at which a line runs down from one step to another: the column of the target or of the
 * source if no step is in the way; otherwise beside the steps between, as near to the target as possible. Undefined if
 * the target is not below the source.
 * @param source if given, prefers the source's column to the target's column. The line starts at this distance from the
 * middle of the source
 */
export function findLane(
  from: CanvasPosition,
  to: CanvasPosition,
  others: Iterable<CanvasPosition>,
  source?: number,
): number | undefined {
  const [top, bottom] = [from.y + NODE.height, to.y];
  if (bottom - top < TURN.plain) return undefined;
  const between = [...others].filter(({ y }) => y + NODE.height > top && y < bottom);
  const isFree = (lane: number) => between.every(({ x }) => lane < x - CLEAR / 2 || lane > x + NODE.width + CLEAR / 2);
  const [ofSource, target] = [getCenterX(from) + (source ?? 0), getCenterX(to)];
  const preferred = source === undefined ? [target, ofSource] : [ofSource, target];
  const beside = between.flatMap(({ x }) => [x - CLEAR, x + NODE.width + CLEAR]);
  const nearest = beside.sort((a, b) => Math.abs(a - target) - Math.abs(b - target));
  return [...preferred, ...nearest].find(isFree) ?? target;
}

const getCenterX = ({ x }: CanvasPosition): number => x + NODE.width / 2;

/** Returns the SVG path of a line: down, across to its lane, down, across to the target, and down again. */
export function createTransitionPath(p: {
  from: CanvasPosition;
  to: CanvasPosition;
  lane: number;
  turn: number;
}): string {
  const { lane } = p;
  const from = { ...p.from, y: p.from.y - HANDLE };
  const to = { ...p.to, y: p.to.y + HANDLE };
  const last = p.to.y - APPROACH;
  const first = Math.min(p.from.y + p.turn, last);
  const out = isNear(lane, from.x) ? [] : [at(from.x, first), at(lane, first)];
  const back = isNear(lane, to.x) ? [] : [at(lane, last), at(to.x, last)];
  return createRoundedPath([from, ...out, ...back, to]);
}

const at = (x: number, y: number): CanvasPosition => ({ x, y });
const isNear = (one: number, other: number): boolean => Math.abs(one - other) < 1;

/** Returns the SVG path through these points, with rounded corners. */
function createRoundedPath(points: readonly CanvasPosition[]): string {
  const [start, ...rest] = points;
  if (!start) return '';
  const parts = rest.map((point, n) => {
    const [before, after] = [points[n] as CanvasPosition, rest[n + 1]];
    if (!after) return `L${point.x} ${point.y}`;
    const [enter, leave] = [pointTowards(point, before), pointTowards(point, after)];
    return `L${enter.x} ${enter.y}Q${point.x} ${point.y} ${leave.x} ${leave.y}`;
  });
  return `M${start.x} ${start.y}${parts.join('')}`;
}

/** Returns the point at the radius from a corner towards another point, but not beyond the middle. */
function pointTowards(corner: CanvasPosition, point: CanvasPosition): CanvasPosition {
  const [dx, dy] = [point.x - corner.x, point.y - corner.y];
  const length = Math.hypot(dx, dy);
  const part = Math.min(RADIUS, length / 2) / (length || 1);
  return { x: corner.x + dx * part, y: corner.y + dy * part };
}
