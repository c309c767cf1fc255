import type { OutboxKind } from '../outbox.ts';

/** What a row of the outbox asked for and Temporal was seen to begin. */
export interface Begun {
  kind: OutboxKind;
  refId: string;
  /** Of the signal that a wait is over; null for all else. */
  visit: number | null;
}

/** Workflows whose begin is watched, by how their ids begin; a UUID follows. */
const WATCHED_STARTS: [prefix: string, kind: OutboxKind][] = [
  ['execution-', 'execution.start'],
  ['job-', 'job.start'],
  ['campaign-', 'campaign.start'],
];
const UUID_CHARS = 36;

/**
 * Kinds whose rows stay in the outbox until Temporal was seen to begin them. The others are few, or come in groups, and
 * are forgotten when Temporal has taken them.
 */
export const WATCHED_KINDS: ReadonlySet<OutboxKind> = new Set<OutboxKind>([
  ...WATCHED_STARTS.map(([, kind]) => kind),
  'execution.event',
  'execution.cancel',
]);

/** What the first task of a workflow begins; undefined where nobody watches it. */
export function startBegun(workflowId: string): Begun | undefined {
  const found = WATCHED_STARTS.find(([prefix]) => workflowId.startsWith(prefix));
  if (!found) return undefined;
  const [prefix, kind] = found;
  return { kind, refId: workflowId.slice(prefix.length, prefix.length + UUID_CHARS), visit: null };
}

/** What a signal begins that has reached a workflow. */
export function signalBegun(workflowId: string, signalName: string, args: unknown[]): Begun | undefined {
  const start = startBegun(workflowId);
  if (start?.kind !== 'execution.start' || signalName !== 'event') return undefined;
  const [event] = args as [{ visit: number }?];
  return event && { kind: 'execution.event', refId: start.refId, visit: event.visit };
}

/** What is begun by a cancel that has reached a workflow. */
export function cancelBegun(workflowId: string): Begun | undefined {
  const start = startBegun(workflowId);
  return start?.kind === 'execution.start' ? { ...start, kind: 'execution.cancel' } : undefined;
}
