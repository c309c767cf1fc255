import type { OutboxKind } from '../outbox.ts';

/** Work of an outbox row that a worker has seen start in Temporal. */
export interface StartedWork {
  kind: OutboxKind;
  refId: string;
  /** The visit of a signal that ends a wait. Null for all other work. */
  visit: number | null;
  /**
   * The outbox row for which the signal was sent. Set for signals that report a change; each row of the same target has
   * its own signal.
   */
  rowId?: string;
}

/** The outbox kind of each type of workflow whose start is watched. A key is the first word of the workflow's id. */
const WATCHED_STARTS = new Map<string, OutboxKind>([
  ['execution', 'execution.start'],
  ['job', 'job.start'],
  ['campaign', 'campaign.start'],
]);
/**
 * The outbox kind of each signal that reports a change. A key is the first word of the workflow's id, and the name of
 * the signal.
 */
const CHANGE_SIGNALS = new Map<string, OutboxKind>([
  ['campaign changed', 'campaign.changed'],
  ['webhooks wake', 'webhook.deliver'],
]);
/**
 * Matches a workflow id: the first word, the short form of the installation's id (missing in ids of an earlier
 * release), and the UUID of the row.
 */
const WORKFLOW_ID = /^([a-z]+)-(?:[0-9a-f]{8}-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/;

/**
 * The outbox kinds whose rows are deleted only when a worker observes that the workflow has started or has received the
 * signal. Rows of other kinds are rare or come in groups, and are deleted as soon as Temporal has accepted them.
 */
export const WATCHED_KINDS: ReadonlySet<OutboxKind> = new Set<OutboxKind>([
  ...WATCHED_STARTS.values(),
  'execution.event',
  'execution.cancel',
  'execution.ended',
  'campaign.changed',
  'webhook.deliver',
]);

/** Returns the id of the row in the id of a workflow. Undefined if the id contains no row. */
export function parseRowId(workflowId: string): string | undefined {
  return WORKFLOW_ID.exec(workflowId)?.[2];
}

/** Returns the work that has started when the first task of a workflow runs. Undefined if its start is not watched. */
export function findStartedWork(workflowId: string): StartedWork | undefined {
  const [, word = '', refId = ''] = WORKFLOW_ID.exec(workflowId) ?? [];
  const kind = WATCHED_STARTS.get(word);
  return kind && { kind, refId, visit: null };
}

/** Returns the work that has started when a workflow receives a signal. Undefined if the signal is not watched. */
export function findSignaledWork(workflowId: string, signalName: string, args: unknown[]): StartedWork | undefined {
  const [, word = '', refId = ''] = WORKFLOW_ID.exec(workflowId) ?? [];
  const changeKind = CHANGE_SIGNALS.get(`${word} ${signalName}`);
  if (changeKind) {
    // A signal from an earlier release or from an operator contains no row id.
    const [rowId] = args as [string?];
    return typeof rowId === 'string' ? { kind: changeKind, refId, visit: null, rowId } : undefined;
  }
  const start = findStartedWork(workflowId);
  if (start?.kind !== 'execution.start') return undefined;
  if (signalName === 'ended') return { ...start, kind: 'execution.ended' };
  if (signalName !== 'event') return undefined;
  const [event] = args as [{ visit: number }?];
  return event && { kind: 'execution.event', refId: start.refId, visit: event.visit };
}

/** Returns the work that has started when a workflow is cancelled. Undefined if its cancellation is not watched. */
export function findCancellationWork(workflowId: string): StartedWork | undefined {
  const start = findStartedWork(workflowId);
  return start?.kind === 'execution.start' ? { ...start, kind: 'execution.cancel' } : undefined;
}
