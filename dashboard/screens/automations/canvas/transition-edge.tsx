import { IconPlus } from '@tabler/icons-react';
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getSmoothStepPath } from '@xyflow/react';
import { memo } from 'react';
import { formatShare } from '../../../parts/count-link.tsx';
import { BRANCH_ROW } from '../graph/layout.ts';
import { CountLink } from '../step-counts.tsx';
import { useCanvasActions } from './actions.ts';
import classes from './canvas.module.css';
import type { TransitionEdgeType } from './drawing.ts';
import { createTransitionPath, TURN } from './edge-path.ts';

/** Pixels from the label of a branch to the button below it, and from the middle of a button to a label beside it. */
const BELOW_LABEL = 20;
const BESIDE_BUTTON = 12;

/** An edge between two steps: its branch, the share of contacts that took it, and a button that inserts a step. */
export const TransitionEdge = memo(function TransitionEdge(edge: EdgeProps<TransitionEdgeType>) {
  const { onAdd, onCount, countHref } = useCanvasActions();
  const { data } = edge;
  if (!data) return null;
  const { insertPoint, branch, crowded, labelWidth, flow, highlighted, dimmed, readOnly, addLabel } = data;
  const { path, label, button } = computeLine(edge, data);
  const style = {
    stroke: highlighted || edge.selected ? 'var(--color-accent)' : 'var(--transition-color)',
    strokeWidth: highlighted ? 2.5 : 1.25,
    opacity: dimmed ? 0.45 : 1,
  };
  const share = flow?.share ?? null;
  return (
    <>
      <BaseEdge path={path} style={style} interactionWidth={16} />
      <EdgeLabelRenderer>
        {branch !== null && (
          <div
            className={`${classes.label} nodrag nopan`}
            data-dimmed={dimmed}
            style={crowded ? startAt(label) : centerAt(label)}
          >
            <span className={classes.branch} style={{ maxWidth: crowded ? undefined : labelWidth }} title={branch}>
              {branch}{' '}
              {share !== null && (
                <CountLink href={countHref(edge.source, { branch })} onOpen={() => onCount(edge.source, { branch })}>
                  {formatShare(share, 1)}
                </CountLink>
              )}
            </span>
          </div>
        )}
        {!readOnly && (
          <div className={`${classes.label} nodrag nopan`} data-dimmed={dimmed} style={centerAt(button)}>
            <button type="button" className={classes.add} aria-label={addLabel} onClick={() => onAdd(insertPoint)}>
              <IconPlus size={12} aria-hidden />
            </button>
          </div>
        )}
      </EdgeLabelRenderer>
    </>
  );
});

const centerAt = ({ x, y }: { x: number; y: number }) => ({
  transform: `translate(-50%, -50%) translate(${x}px, ${y}px)`,
});

/** Places the name of a crowded branch to the right of its line and its button. */
const startAt = ({ x, y }: { x: number; y: number }) => ({
  transform: `translate(${BESIDE_BUTTON}px, -50%) translate(${x}px, ${y}px)`,
});

/** Returns the line of a transition, and the centers of its label and its button. */
function computeLine(
  edge: EdgeProps<TransitionEdgeType>,
  { branch, crowded, row, lane, offset }: NonNullable<TransitionEdgeType['data']>,
) {
  const from = { x: edge.sourceX - offset, y: edge.sourceY };
  const to = { x: edge.targetX, y: edge.targetY };
  if (lane === undefined) {
    const [path, x, y] = getSmoothStepPath({ ...edge, borderRadius: 10 });
    const label = { x: edge.sourceX, y: edge.sourceY + TURN.branch };
    return { path, label, button: branch === null ? { x, y } : { ...label, y: label.y + BELOW_LABEL } };
  }
  const down = row * BRANCH_ROW;
  if (crowded) {
    const label = { x: lane, y: from.y + TURN.crowded + down };
    const handle = { ...from, x: edge.sourceX };
    return { path: createTransitionPath({ from: handle, to, lane, turn: TURN.crowded }), label, button: label };
  }
  const turn = (branch === null ? TURN.plain : TURN.branch) + down;
  const label = { x: lane, y: from.y + turn };
  const isStraight = Math.abs(lane - from.x) < 1;
  const below = branch !== null ? BELOW_LABEL : isStraight ? 0 : TURN.plain;
  return { path: createTransitionPath({ from, to, lane, turn }), label, button: { x: lane, y: label.y + below } };
}
