import { IconPlus } from '@tabler/icons-react';
import { Handle, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import { text } from '../../../text/text.ts';
import { StepCountLinks } from '../step-counts.tsx';
import { StepIcon } from '../step-icon.tsx';
import { useCanvasActions } from './actions.ts';
import classes from './canvas.module.css';
import { handleOf, type StartNodeType, type StepCounts, type StepData, type StepNodeType } from './drawing.ts';

const t = text.automations;

/** A step on the canvas: type, summary, number of contacts, problems. */
export const StepNode = memo(function StepNode({ data, selected }: NodeProps<StepNodeType>) {
  const { step, line, counts, faults, visited, dimmed, readOnly } = data;
  return (
    <div
      className={classes.node}
      data-selected={selected}
      data-faulty={faults.length > 0}
      data-lit={visited !== undefined}
      data-dimmed={dimmed}
    >
      <Handle type="target" position={Position.Top} className={classes.handle} isConnectable={!readOnly} />
      <StepIcon type={step.type} />
      <div className={classes.words}>
        <div className={classes.name} title={step.name}>
          {step.name}
        </div>
        <div className={classes.line} title={line}>
          {line}
        </div>
        {visited ? <Came visited={visited} /> : counts && <Counts counts={counts} stepId={step.id} />}
      </div>
      {faults.length > 0 && (
        <span className={classes.fault} title={faults.map(({ message }) => message).join('\n')}>
          {t.faultsHere(faults.length)}
        </span>
      )}
      <Ways {...data} />
    </div>
  );
});

function Came({ visited: { status, startedAt, reason } }: { visited: NonNullable<StepData['visited']> }) {
  return (
    <div className={classes.counts}>
      <span className={status === 'FAILED' ? classes.bad : undefined} title={status}>
        {reason ?? status}
      </span>
      <time dateTime={startedAt}>{SHORT.format(new Date(startedAt))}</time>
    </div>
  );
}

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });

/** Links to lists of contacts. Tab skips them: Enter on the node opens the panel, which has the same lists. */
function Counts({ counts, stepId }: { counts: StepCounts; stepId: string }) {
  const { onCount, countHref } = useCanvasActions();
  return (
    <div className={`${classes.counts} nodrag`}>
      <StepCountLinks
        counts={counts}
        hrefOf={(count) => countHref(stepId, count)}
        onCount={(count) => onCount(stepId, count)}
        tabIndex={-1}
      />
    </div>
  );
}

/** A handle for each branch, side by side, and a button below each branch that leads nowhere. */
function Ways({ step, ways, readOnly }: StepData) {
  const { onAdd } = useCanvasActions();
  return ways.map(({ branch, open }, index) => {
    const left = `${(100 * (index + 1)) / (ways.length + 1)}%`;
    return (
      <div key={handleOf(branch)}>
        <Handle
          type="source"
          id={handleOf(branch)}
          position={Position.Bottom}
          className={classes.handle}
          style={{ left }}
          isConnectable={!readOnly}
        />
        {open && !readOnly && (
          <span className={`${classes.open} nodrag`} style={{ left }}>
            <button
              type="button"
              className={classes.add}
              aria-label={t.addAfter(step.name, branch)}
              onClick={(event) => {
                event.stopPropagation();
                onAdd({ after: step.id, branch });
              }}
            >
              <IconPlus size={12} aria-hidden />
              {branch}
            </button>
          </span>
        )}
      </div>
    );
  });
}

/** The event that starts the automation. */
export const StartNode = memo(function StartNode({ data: { label, open } }: NodeProps<StartNodeType>) {
  const { onAdd } = useCanvasActions();
  return (
    <div className={classes.start}>
      {label}
      <Handle type="source" id="" position={Position.Bottom} className={classes.handle} />
      {open && (
        <span className={`${classes.open} nodrag`} style={{ left: '50%' }}>
          <button type="button" className={classes.add} onClick={() => onAdd(null)}>
            <IconPlus size={12} aria-hidden />
            {t.addFirst}
          </button>
        </span>
      )}
    </div>
  );
});
