/**
 * Why an event did not start a workflow that it triggers. `active`: the contact has an open execution of the workflow.
 * `entered_before`: the contact had an execution of the workflow, which does not allow re-entry. `automatic`: the email
 * is automatic, and the trigger excludes automatic emails. `too_often`: inbound email of the contact has started the
 * workflow five times within an hour. `event_depth`: the event is at the end of a chain of executions that start each
 * other. Source: contract §7.4 Re-entry.
 */
export const NOT_STARTED_REASONS = ['active', 'entered_before', 'automatic', 'too_often', 'event_depth'] as const;

export type NotStartedReason = (typeof NOT_STARTED_REASONS)[number];

/** A workflow that an event should trigger but did not start. */
export interface NotStarted {
  workflowId: string;
  reason: NotStartedReason;
  /** The id of the contact's last execution of the workflow, if this execution is the reason. */
  executionId: string | null;
}
