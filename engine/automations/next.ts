import { findNextStep, type Graph, type GraphStep } from '../../db/workflows/graph.ts';
import { assertNever } from '../../rules/assert-never.ts';
import type { Next, Position, StepActivity } from '../../rules/executions/execution.ts';
import { formatStepLabel } from '../../rules/executions/step-label.ts';
import { hasSideEffect } from '../../rules/executions/steps/registry.ts';

/**
 * Computes what the Temporal workflow does next for an execution at a step. It runs the activity of an effect, at once
 * or after a timer; it waits for the timer of a DELAY; or it waits for the event of a WAIT_FOR_EVENT.
 * @param at.dueAt the end of the pause; null for an effect that runs at once, and for a wait without a deadline
 */
export function computeNext(graph: Graph, step: GraphStep, at: { visit: number; dueAt?: Date | null }): Next {
  const { visit, dueAt = null } = at;
  if (hasSideEffect(step.type)) return computeNextForEffect(step, { visit, dueAt });
  switch (step.type) {
    case 'DELAY': {
      const following = findNextStep(graph, step.id);
      const then = getActivityAt(graph, following);
      return {
        ...toPosition(step, visit),
        kind: 'delay',
        dueAt: (dueAt ?? new Date()).toISOString(),
        then,
        thenLabel: getLabelAt(graph, following),
      };
    }
    case 'WAIT_FOR_EVENT': {
      const [byEvent, byTimeout] = [findNextStep(graph, step.id, 'event'), findNextStep(graph, step.id, 'timeout')];
      return {
        ...toPosition(step, visit),
        kind: 'wait',
        deadlineAt: dueAt?.toISOString() ?? null,
        onEvent: getActivityAt(graph, byEvent),
        onTimeout: getActivityAt(graph, byTimeout),
        eventLabel: getLabelAt(graph, byEvent),
        timeoutLabel: getLabelAt(graph, byTimeout),
        label: formatStepLabel(step, String(step.config.eventName)),
      };
    }
    case 'CONDITION':
    case 'SPLIT':
    case 'EXIT':
      throw new Error(`an execution never pauses at a step of type ${step.type}: such a step is passed at once`);
    default:
      return assertNever(step.type);
  }
}

/** Returns the activity of an effect. If `dueAt` is set, Temporal waits until that instant first. */
export function computeNextForEffect(step: GraphStep, { visit, dueAt }: { visit: number; dueAt: Date | null }): Next {
  const { type: then } = step;
  if (!hasSideEffect(then)) throw new Error(`a step of type ${then} has no effect`);
  const position = toPosition(step, visit);
  if (dueAt === null) return { ...position, kind: 'effect', activity: then };
  return { ...position, kind: 'delay', dueAt: dueAt.toISOString(), then };
}

function toPosition(step: GraphStep, visit: number): Position {
  return { visit, label: formatStepLabel(step), stepId: step.id, stepType: step.type };
}

/** Returns a copy of a delay or wait that ends at `at`. Returns other kinds of `Next` unchanged. */
export function withPauseEnd(next: Next, at: Date): Next {
  if (next.kind === 'delay') return { ...next, dueAt: at.toISOString() };
  return next.kind === 'wait' ? { ...next, deadlineAt: at.toISOString() } : next;
}

/**
 * Returns a copy of a delay or wait that is marked as skipped. The Temporal workflow sets no timer for a skipped pause,
 * because Temporal's shortest timer takes a second.
 */
export function withoutTimer(next: Next): Next {
  return next.kind === 'delay' || next.kind === 'wait' ? { ...next, skipped: true } : next;
}

/** Returns the label of the step with this id, for the Temporal UI. */
function getLabelAt(graph: Graph, stepId: string | null): string {
  const step = stepId === null ? undefined : graph.steps.get(stepId);
  return step ? formatStepLabel(step) : 'the end of the workflow';
}

/**
 * Returns the activity that runs at a step: the step's type if the step has an effect, otherwise ADVANCE, which only
 * advances the execution.
 */
function getActivityAt(graph: Graph, stepId: string | null): StepActivity {
  const type = stepId === null ? undefined : graph.steps.get(stepId)?.type;
  return type !== undefined && hasSideEffect(type) ? type : 'ADVANCE';
}
