import type { WorkflowDetail } from '../graph/graph.ts';

type Exit = WorkflowDetail['exitOn'][number];

/** An event that ends runs, while it is edited. */
export interface ExitRow {
  key: string;
  eventName: string;
  filters: unknown;
  /** As it is stored, with whatever else it has. */
  stored: object;
}

/** As many as the API takes. */
export const EXITS_MAX = 20;

let rows = 0;
const newKey = (): string => {
  rows += 1;
  return `exit-${rows}`;
};

export function newExit(): ExitRow {
  return { key: newKey(), eventName: '', filters: undefined, stored: {} };
}

export function exitRowsOf(exitOn: readonly Exit[]): ExitRow[] {
  return exitOn.map((stored) => ({ key: newKey(), eventName: stored.eventName, filters: stored.filters, stored }));
}

/** As the API takes them: what a form does not show stays with each. */
export function exitsOf(exits: readonly ExitRow[]): Exit[] {
  return exits.map(({ stored, eventName, filters }) => {
    const { filters: _, ...rest } = { filters: undefined, ...stored };
    return { ...rest, eventName: eventName.trim(), ...(filters !== undefined && { filters }) } as Exit;
  });
}
