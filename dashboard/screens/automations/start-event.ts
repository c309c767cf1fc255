import type { WorkflowDetail } from './graph/graph.ts';

/** Returns the event that starts an automation. The API keeps the event of a manual one, which no event starts. */
export function startEventOf(p: Pick<WorkflowDetail, 'triggerType' | 'eventName'>): string | null {
  return p.triggerType === 'EVENT' ? p.eventName : null;
}
