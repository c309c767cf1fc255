import { IconPlus } from '@tabler/icons-react';
import { Handle, type NodeProps, Position } from '@xyflow/react';
import { type CSSProperties, Fragment, memo } from 'react';
import { formatCount } from '../../../parts/count-link.tsx';
import { ShortTime } from '../../../parts/instant.tsx';
import { text } from '../../../text/text.ts';
import { getLabel } from '../../../text/words.ts';
import { CountLink, formatOpenRate, listNonZeroCounts } from '../step-counts.tsx';
import { StepIcon } from '../step-icon.tsx';
import { useCanvasActions } from './actions.ts';
import classes from './canvas.module.css';
import { type StartNodeType, type StepCounts, type StepData, type StepNodeType, toHandleId } from './drawing.ts';

const t = text.automations;

/**
 * Shows a step on the canvas: icon, name, summary, issues and counts of contacts. On a highlighted path, the time and
 * the status of the visit replace the counts.
 */
export const StepNode = memo(function StepNode({ data, selected }: NodeProps<StepNodeType>) {
  const { step, line, counts, faults, visited, dimmed, readOnly } = data;
  return (
    <div
      className={classes.node}
      data-selected={selected}
      data-faulty={faults.length > 0}
      data-highlighted={visited !== undefined}
      data-dimmed={dimmed}
    >
      <Handle type="target" position={Position.Top} className={classes.handle} isConnectable={!readOnly} />
      <StepIcon type={step.type} />
      <div>
        <div className={classes.row}>
          <span className={classes.name} title={step.name}>
            {step.name}
          </span>
          {visited ? <VisitTime visited={visited} /> : counts && <CompletedCount counts={counts} stepId={step.id} />}
        </div>
        <div className={classes.row}>
          <span className={classes.line} title={line}>
            {line}
          </span>
          {visited ? <VisitStatus visited={visited} /> : counts && <OtherCounts counts={counts} stepId={step.id} />}
        </div>
      </div>
      {faults.length > 0 && (
        <span className={classes.fault} title={faults.map(({ message }) => message).join('\n')}>
          {t.issuesHere(faults.length)}
        </span>
      )}
      <BranchHandles {...data} />
    </div>
  );
});

type Visited = NonNullable<StepData['visited']>;

function VisitTime({ visited: { startedAt } }: { visited: Visited }) {
  return (
    <span className={classes.counts}>
      <ShortTime at={startedAt} />
    </span>
  );
}

function VisitStatus({ visited: { status, reason } }: { visited: Visited }) {
  const label = reason ? getLabel('reason', reason) : getLabel('execution', status);
  return (
    <span className={`${classes.counts} ${classes.outcome} ${status === 'FAILED' ? classes.bad : ''}`} title={label}>
      {label}
    </span>
  );
}

/**
 * The contacts that completed the step. Tab skips the counts: Enter on the node opens the panel with the same lists.
 */
function CompletedCount({ counts: { completed }, stepId }: { counts: StepCounts; stepId: string }) {
  const { onCount, countHref } = useCanvasActions();
  if (completed === 0) return null;
  return (
    <span className={`${classes.total} nodrag`}>
      <CountLink
        href={countHref(stepId, 'COMPLETED')}
        onOpen={() => onCount(stepId, 'COMPLETED')}
        tabIndex={-1}
        label={t.passed(completed)}
      >
        {formatCount(completed)}
      </CountLink>
    </span>
  );
}

/**
 * The open rate of an email step, and the failed, waiting and skipped contacts. A card shows two of these counts, or
 * the rate and one count, so that the template's name stays readable. The panel shows all.
 */
function OtherCounts({ counts, stepId }: { counts: StepCounts; stepId: string }) {
  const { onCount, countHref } = useCanvasActions();
  const rate = formatOpenRate(counts);
  return (
    <span className={`${classes.counts} nodrag`}>
      {rate !== undefined && <span title={t.ratesOf(counts.emails?.sent ?? 0)}>{t.openedRate(rate)}</span>}
      {listNonZeroCounts(counts)
        .filter(({ count }) => count !== 'COMPLETED' && !(count === 'SKIPPED' && rate !== undefined))
        .slice(0, rate === undefined ? 2 : 1)
        .map(({ count, tone, words }) => (
          <CountLink
            key={count}
            tone={tone}
            href={countHref(stepId, count)}
            onOpen={() => onCount(stepId, count)}
            tabIndex={-1}
          >
            {words}
          </CountLink>
        ))}
    </span>
  );
}

/** The handles of the branches, side by side, and a button below each branch that leads to no step. */
function BranchHandles({ step, transitions, readOnly }: StepData) {
  const { onAdd } = useCanvasActions();
  return transitions.map(({ branch, open, crowded, row }, index) => {
    const left = `${(100 * (index + 1)) / (transitions.length + 1)}%`;
    return (
      <Fragment key={toHandleId(branch)}>
        <Handle
          type="source"
          id={toHandleId(branch)}
          position={Position.Bottom}
          className={classes.handle}
          style={{ left }}
          isConnectable={!readOnly}
        />
        {open && !readOnly && (
          <span
            className={`${classes.open} nodrag`}
            data-beside={crowded}
            style={{ left, '--row': crowded ? row : 0, '--branches': transitions.length + 1 } as CSSProperties}
          >
            <button
              type="button"
              className={classes.add}
              title={branch ?? undefined}
              aria-label={t.addAfter(step.name, branch)}
              onClick={(event) => {
                event.stopPropagation();
                onAdd({ after: step.id, branch });
              }}
            >
              <IconPlus size={12} aria-hidden />
              {branch !== null && <span>{branch}</span>}
            </button>
          </span>
        )}
      </Fragment>
    );
  });
}

/** The event that starts the automation. */
export const StartNode = memo(function StartNode({ data: { label, started, open } }: NodeProps<StartNodeType>) {
  const { onAdd } = useCanvasActions();
  return (
    <div className={classes.node} data-start="true">
      <StepIcon type="TRIGGER" />
      <div>
        <div className={classes.row}>
          <span className={classes.name} title={label}>
            {label}
          </span>
          {started !== undefined && started > 0 && (
            <span className={classes.total} title={t.started(started)}>
              {formatCount(started)}
            </span>
          )}
        </div>
        <div className={classes.row}>
          <span className={classes.line}>{t.triggerCard}</span>
        </div>
      </div>
      <Handle type="source" id="" position={Position.Bottom} className={classes.handle} />
      {open && (
        <span className={`${classes.open} nodrag`} style={{ left: '50%' }}>
          <button type="button" className={classes.add} onClick={() => onAdd(null)}>
            <IconPlus size={12} aria-hidden />
            <span>{t.addFirst}</span>
          </button>
        </span>
      )}
    </div>
  );
});
