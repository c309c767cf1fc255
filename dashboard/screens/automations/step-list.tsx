import { UnstyledButton } from '@mantine/core';
import { IconCornerDownRight, IconPlus } from '@tabler/icons-react';
import type { CSSProperties } from 'react';
import { Breakable } from '../../parts/breakable.tsx';
import { text } from '../../text/text.ts';
import type { CanvasActions } from './canvas/actions.ts';
import type { StepCounts } from './canvas/drawing.ts';
import type { StepFault } from './graph/faults.ts';
import {
  findStep,
  type Graph,
  type InsertPoint,
  listTransitions,
  type OrderedStep,
  orderSteps,
  type Step,
} from './graph/graph.ts';
import type { HighlightedPath } from './graph/path.ts';
import { StepCountLinks } from './step-counts.tsx';
import { StepIcon } from './step-icon.tsx';
import classes from './step-list.module.css';
import { summarizeStep } from './step-types.tsx';

const t = text.automations;
/** Deeper branches are not indented further, because a phone is narrow. */
const DEPTH_MAX = 4;

/** The steps as a list in the order of the run, for phones and for users who prefer text. */
export function StepList({
  graph,
  startLabel,
  selected,
  stats,
  faults,
  templates,
  highlighted,
  readOnly,
  onSelect,
  onAdd,
  onCount,
  countHref,
}: Pick<CanvasActions, 'onCount' | 'countHref'> & {
  graph: Graph;
  startLabel: string;
  selected: string | undefined;
  stats: Map<string, StepCounts>;
  faults: ReadonlyMap<string, readonly StepFault[]>;
  templates: Map<string, string>;
  highlighted: HighlightedPath | undefined;
  readOnly: boolean;
  onSelect: (stepId: string) => void;
  onAdd: (insertPoint: InsertPoint) => void;
}) {
  const order = orderSteps(graph);
  return (
    <ol className={classes.list}>
      <li>
        <div className={classes.card}>
          <div className={classes.open}>
            <StepIcon type="TRIGGER" />
            <div className={classes.words}>
              <p className={classes.name}>{startLabel}</p>
              <p className={classes.line}>{t.triggerCard}</p>
            </div>
          </div>
        </div>
        {!readOnly && <Add label={graph.entry ? t.addFront : t.addFirst} onClick={() => onAdd(null)} />}
      </li>
      {order.map(({ step, depth, starts }, at) => (
        <li
          key={step.id}
          style={{ '--depth': Math.min(depth, DEPTH_MAX) } as CSSProperties}
          data-connected={starts === null && (at === 0 || hasTransitionTo(graph, order[at - 1]?.step, step))}
        >
          {starts && (
            <p className={classes.way}>
              <IconCornerDownRight size={14} stroke={1.75} aria-hidden />
              <span>{starts.branch}</span>
            </p>
          )}
          <Row
            step={step}
            line={summarizeStep(step, templates)}
            counts={stats.get(step.id)}
            faults={faults.get(step.id) ?? []}
            isSelected={selected === step.id}
            isDimmed={highlighted !== undefined && !highlighted.steps.has(step.id)}
            onSelect={onSelect}
            onCount={onCount}
            countHref={countHref}
          />
          <OtherNextSteps step={step} graph={graph} order={order} next={order[at + 1]?.step} />
          {!readOnly &&
            listTransitions(graph, step)
              .filter(({ to }) => to === null)
              .map(({ branch }) => (
                <Add
                  key={branch ?? ''}
                  label={t.addAfter(step.name, branch)}
                  onClick={() => onAdd({ after: step.id, branch })}
                />
              ))}
        </li>
      ))}
    </ol>
  );
}

function hasTransitionTo(graph: Graph, step: Step | undefined, next: Step): boolean {
  return graph.transitions.some(({ from, to, branch }) => from === step?.id && to === next.id && branch === null);
}

/**
 * Names the next steps of a step, except steps that the list shows directly below the step or at the start of one of
 * its branches.
 */
function OtherNextSteps({
  step,
  graph,
  order,
  next,
}: {
  step: Step;
  graph: Graph;
  order: OrderedStep[];
  next: Step | undefined;
}) {
  const transitions = listTransitions(graph, step).filter(
    ({ to, branch }) =>
      to !== null &&
      !(branch === null && to === next?.id) &&
      !order.some(({ starts }) => starts?.from === step.id && starts.branch === branch),
  );
  return transitions.map(({ branch, to }) => (
    <p key={branch ?? ''} className={classes.elsewhere}>
      {t.leadsOn(branch, findStep(graph, to)?.name ?? '')}
    </p>
  ));
}

function Row(
  p: Pick<CanvasActions, 'onCount' | 'countHref'> & {
    step: Step;
    line: string;
    counts: StepCounts | undefined;
    faults: readonly StepFault[];
    isSelected: boolean;
    isDimmed: boolean;
    onSelect: (stepId: string) => void;
  },
) {
  const { step, counts } = p;
  return (
    <div className={classes.card} data-selected={p.isSelected} data-dimmed={p.isDimmed}>
      <UnstyledButton className={classes.open} onClick={() => p.onSelect(step.id)} aria-pressed={p.isSelected}>
        <StepIcon type={step.type} />
        <div className={classes.words}>
          <p className={classes.name}>{step.name}</p>
          <p className={classes.line}>
            <Breakable text={p.line} />
          </p>
          {p.faults.map(({ field, message }) => (
            <p key={`${field} ${message}`} className={classes.fault}>
              {message}
            </p>
          ))}
        </div>
      </UnstyledButton>
      <div className={classes.counts}>
        {counts && (
          <StepCountLinks
            counts={counts}
            hrefOf={(count) => p.countHref(step.id, count)}
            onCount={(count) => p.onCount(step.id, count)}
          />
        )}
      </div>
    </div>
  );
}

function Add({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <UnstyledButton className={classes.add} onClick={onClick}>
      <span className={classes.plus}>
        <IconPlus size={12} aria-hidden />
      </span>
      {label}
    </UnstyledButton>
  );
}
