import type { WorkflowDetail } from '../graph/graph.ts';

type Exit = WorkflowDetail['exitOn'][number];

/** An event that ends runs, in the form. */
export interface ExitRow {
  key: string;
  eventName: string;
  filters: unknown;
  /** Whether an automatic reply counts as the event. */
  includeAutomatic: boolean;
  /** The stored exit with all its fields. */
  stored: object;
}

/** The limit of the API. */
export const EXITS_MAX = 20;

let rows = 0;
const newKey = (): string => {
  rows += 1;
  return `exit-${rows}`;
};

export function newExit(): ExitRow {
  return { key: newKey(), eventName: '', filters: undefined, includeAutomatic: false, stored: {} };
}

export function toExitRows(exitOn: readonly Exit[]): ExitRow[] {
  return exitOn.map((stored) => {
    const { eventName, filters, includeAutomatic = false } = stored;
    return { key: newKey(), eventName, filters, includeAutomatic, stored };
  });
}

/** Returns the exits as the API takes them; each keeps the parts that a form does not show. */
export function toExits(exits: readonly ExitRow[]): Exit[] {
  return exits.map(({ stored, eventName, filters, includeAutomatic }) => {
    const {
      filters: _,
      includeAutomatic: __,
      ...rest
    } = { filters: undefined, includeAutomatic: undefined, ...stored };
    return {
      ...rest,
      eventName: eventName.trim(),
      ...(filters !== undefined && { filters }),
      ...(includeAutomatic && { includeAutomatic }),
    } as Exit;
  });
}
