import type { WorkflowDetail } from './graph/graph.ts';

/** Returns the event that starts an automation. A manual automation may still have a stored event, which is ignored. */
export function getStartEvent(p: Pick<WorkflowDetail, 'triggerType' | 'eventName'>): string | null {
  return p.triggerType === 'EVENT' ? p.eventName : null;
}
