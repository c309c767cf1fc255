import type { OutboxKind } from '../outbox.ts';

/** What a row of the outbox asked for and Temporal was seen to begin. */
export interface Begun {
  kind: OutboxKind;
  refId: string;
  /** Of the signal that a wait is over; null for all else. */
  visit: number | null;
}

/** Workflows whose begin is watched, by the first word of their ids. */
const WATCHED_STARTS = new Map<string, OutboxKind>([
  ['execution', 'execution.start'],
  ['job', 'job.start'],
  ['campaign', 'campaign.start'],
]);
/** The word, the short form of the installation's id (which ids of an earlier release lack), and the row's UUID. */
const WORKFLOW_ID = /^([a-z]+)-(?:[0-9a-f]{8}-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/;

/**
 * Kinds whose rows stay in the outbox until Temporal was seen to begin them. The others are few, or come in groups, and
 * are forgotten when Temporal has taken them.
 */
export const WATCHED_KINDS: ReadonlySet<OutboxKind> = new Set<OutboxKind>([
  ...WATCHED_STARTS.values(),
  'execution.event',
  'execution.cancel',
  'execution.ended',
]);

/** The row that the id of a workflow names; undefined where it names none. */
export function rowOfWorkflow(workflowId: string): string | undefined {
  return WORKFLOW_ID.exec(workflowId)?.[2];
}

/** What the first task of a workflow begins; undefined where nobody watches it. */
export function startBegun(workflowId: string): Begun | undefined {
  const [, word = '', refId = ''] = WORKFLOW_ID.exec(workflowId) ?? [];
  const kind = WATCHED_STARTS.get(word);
  return kind && { kind, refId, visit: null };
}

/** What a signal begins that has reached a workflow. */
export function signalBegun(workflowId: string, signalName: string, args: unknown[]): Begun | undefined {
  const start = startBegun(workflowId);
  if (start?.kind !== 'execution.start') return undefined;
  if (signalName === 'ended') return { ...start, kind: 'execution.ended' };
  if (signalName !== 'event') return undefined;
  const [event] = args as [{ visit: number }?];
  return event && { kind: 'execution.event', refId: start.refId, visit: event.visit };
}

/** What is begun by a cancel that has reached a workflow. */
export function cancelBegun(workflowId: string): Begun | undefined {
  const start = startBegun(workflowId);
  return start?.kind === 'execution.start' ? { ...start, kind: 'execution.cancel' } : undefined;
}
