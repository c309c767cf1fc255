import type { EffectType, Next, StepActivity } from '../domain/execution.ts';
import { stepLabel } from '../domain/step-label.ts';
import { follow, type Graph, type GraphStep } from './execution-graph.ts';

/** The execution stands at an effect: its activity comes next. */
export function effectNext(visit: number, step: GraphStep, activity: EffectType): Next {
  return { kind: 'effect', visit, activity, label: stepLabel(step) };
}

/** The execution stands at a DELAY: a timer comes next. */
export function delayNext(visit: number, step: GraphStep, dueAt: Date, graph: Graph): Next {
  const then = activityAt(graph, follow(graph, step.id));
  return { kind: 'delay', visit, dueAt: dueAt.toISOString(), then, label: stepLabel(step) };
}

/** The execution stands at a WAIT_FOR_EVENT. */
export function waitNext(visit: number, step: GraphStep, deadlineAt: Date | null, graph: Graph): Next {
  return {
    kind: 'wait',
    visit,
    deadlineAt: deadlineAt?.toISOString() ?? null,
    onEvent: activityAt(graph, follow(graph, step.id, 'event')),
    onTimeout: activityAt(graph, follow(graph, step.id, 'timeout')),
    label: stepLabel(step, String(step.config.eventName)),
  };
}

/** The same pause with another end. */
export function endingAt(next: Next, at: Date): Next {
  if (next.kind === 'delay') return { ...next, dueAt: at.toISOString() };
  return next.kind === 'wait' ? { ...next, deadlineAt: at.toISOString() } : next;
}

/** The activity that a step needs: its own where it has an effect, else one that only walks on. */
function activityAt(graph: Graph, stepId: string | null): StepActivity {
  const type = stepId === null ? undefined : graph.steps.get(stepId)?.type;
  return type === 'SEND_EMAIL' || type === 'WEBHOOK' || type === 'UPDATE_CONTACT' ? type : 'ADVANCE';
}
