import type { OutboxKind } from '../outbox.ts';

/** Work of an outbox row that Temporal was seen to start. */
export interface StartedWork {
  kind: OutboxKind;
  refId: string;
  /** Visit of the signal that ends a wait. Null for all other work. */
  visit: number | null;
  /** The row for which a signal with news was sent. Other rows of the same target get their own signals. */
  rowId?: string;
}

/** Workflows whose start is watched, by the first word of their ids. */
const WATCHED_STARTS = new Map<string, OutboxKind>([
  ['execution', 'execution.start'],
  ['job', 'job.start'],
  ['campaign', 'campaign.start'],
]);
/** Signals with news, by the first word of the workflow's id and the name of the signal. */
const NEWS_SIGNALS = new Map<string, OutboxKind>([
  ['campaign changed', 'campaign.changed'],
  ['webhooks wake', 'webhook.deliver'],
]);
/**
 * A workflow id: the first word, the short form of the installation's id (missing in ids of an earlier release), and
 * the row's UUID.
 */
const WORKFLOW_ID = /^([a-z]+)-(?:[0-9a-f]{8}-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/;

/**
 * Kinds whose rows stay in the outbox until a worker sees that Temporal has started them, or that a workflow has
 * received their signal. Rows of other kinds are rare or come in groups, and are deleted when Temporal has accepted
 * them.
 */
export const WATCHED_KINDS: ReadonlySet<OutboxKind> = new Set<OutboxKind>([
  ...WATCHED_STARTS.values(),
  'execution.event',
  'execution.cancel',
  'execution.ended',
  'campaign.changed',
  'webhook.deliver',
]);

/** Returns the row that the id of a workflow names. Undefined if it names none. */
export function rowOfWorkflow(workflowId: string): string | undefined {
  return WORKFLOW_ID.exec(workflowId)?.[2];
}

/** Returns the work that the first task of a workflow starts. Undefined if it is not watched. */
export function workOfStart(workflowId: string): StartedWork | undefined {
  const [, word = '', refId = ''] = WORKFLOW_ID.exec(workflowId) ?? [];
  const kind = WATCHED_STARTS.get(word);
  return kind && { kind, refId, visit: null };
}

/** Returns the work that a signal to a workflow starts. */
export function workOfSignal(workflowId: string, signalName: string, args: unknown[]): StartedWork | undefined {
  const [, word = '', refId = ''] = WORKFLOW_ID.exec(workflowId) ?? [];
  const news = NEWS_SIGNALS.get(`${word} ${signalName}`);
  if (news) {
    // A signal of an earlier release, or of an operator, names no row.
    const [rowId] = args as [string?];
    return typeof rowId === 'string' ? { kind: news, refId, visit: null, rowId } : undefined;
  }
  const start = workOfStart(workflowId);
  if (start?.kind !== 'execution.start') return undefined;
  if (signalName === 'ended') return { ...start, kind: 'execution.ended' };
  if (signalName !== 'event') return undefined;
  const [event] = args as [{ visit: number }?];
  return event && { kind: 'execution.event', refId: start.refId, visit: event.visit };
}

/** Returns the work that a cancellation of a workflow starts. */
export function workOfCancellation(workflowId: string): StartedWork | undefined {
  const start = workOfStart(workflowId);
  return start?.kind === 'execution.start' ? { ...start, kind: 'execution.cancel' } : undefined;
}
