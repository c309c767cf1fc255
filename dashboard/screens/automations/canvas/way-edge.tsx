import { IconPlus } from '@tabler/icons-react';
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getSmoothStepPath } from '@xyflow/react';
import { memo } from 'react';
import { formatShare } from '../../../parts/count-link.tsx';
import { CountLink } from '../step-counts.tsx';
import { useCanvasActions } from './actions.ts';
import classes from './canvas.module.css';
import type { WayEdgeType } from './drawing.ts';

/** Pixels from a step to the middle of a branch's label. */
const BELOW = 28;

/** An edge between two steps: its branch, the share of contacts that took it, and a button that inserts a step. */
export const WayEdge = memo(function WayEdge(edge: EdgeProps<WayEdgeType>) {
  const { onAdd, onCount, countHref } = useCanvasActions();
  const [path, middleX, middleY] = getSmoothStepPath({ ...edge, borderRadius: 14 });
  const { data, markerEnd } = edge;
  if (!data) return null;
  const { place, branch, flow, lit, dimmed, readOnly, addLabel } = data;
  // The label is at the start of the edge: labels of branches to the same step would overlap in the middle.
  const [x, y] = branch === null ? [middleX, middleY] : [edge.sourceX, edge.sourceY + BELOW];
  const style = {
    stroke: lit || edge.selected ? 'var(--mantine-primary-color-filled)' : 'var(--way)',
    strokeWidth: lit ? 3 : 1.5,
    opacity: dimmed ? 0.45 : 1,
  };
  const share = flow?.share ?? null;
  return (
    <>
      <BaseEdge path={path} style={style} interactionWidth={16} {...(markerEnd !== undefined && { markerEnd })} />
      <EdgeLabelRenderer>
        <div
          className={`${classes.label} nodrag nopan`}
          data-dimmed={dimmed}
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
        >
          {branch !== null && (
            <span className={classes.branch} title={branch}>
              {branch}{' '}
              {share !== null && (
                <CountLink href={countHref(edge.source, { branch })} onOpen={() => onCount(edge.source, { branch })}>
                  {formatShare(share, 1)}
                </CountLink>
              )}
            </span>
          )}
          {!readOnly && (
            <button type="button" className={classes.add} aria-label={addLabel} onClick={() => onAdd(place)}>
              <IconPlus size={12} aria-hidden />
            </button>
          )}
        </div>
      </EdgeLabelRenderer>
    </>
  );
});
