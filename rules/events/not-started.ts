/**
 * Why an event did not start a workflow that it triggers: `active`, the contact has an open execution of it;
 * `entered_before`, the contact has been in it, and it does not allow re-entry; `automatic`, the email is automatic,
 * and the trigger excludes such emails; `too_often`, email has started it five times within an hour; `event_depth`, the
 * event is at the end of a chain of executions that start each other. Source: contract §7.4 Re-entry.
 */
export const NOT_STARTED_REASONS = ['active', 'entered_before', 'automatic', 'too_often', 'event_depth'] as const;

export type NotStartedReason = (typeof NOT_STARTED_REASONS)[number];

/** A workflow that an event triggers and did not start. */
export interface NotStarted {
  workflowId: string;
  reason: NotStartedReason;
  /** The contact's last execution of the workflow, if it is the reason. */
  executionId: string | null;
}
