import { IconFlag } from '@tabler/icons-react';
import type { StepType } from './graph/graph.ts';
import classes from './step-icon.module.css';
import { STEP_TYPES } from './step-types.tsx';

/** The icon of a step type, or of the trigger; the name is beside it. */
export function StepIcon({ type }: { type: StepType | 'TRIGGER' }) {
  const { icon: Icon, kind } = type === 'TRIGGER' ? TRIGGER : STEP_TYPES[type];
  return (
    <span className={classes.icon} data-kind={kind} aria-hidden>
      <Icon size={16} stroke={1.75} />
    </span>
  );
}

const TRIGGER = { icon: IconFlag, kind: 'message' };
