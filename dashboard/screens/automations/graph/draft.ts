import type { Graph } from './graph.ts';

/** What was drawn and not saved, kept in this browser so that nothing is lost on reload. */
export interface Draft {
  /** The version that it was drawn on. */
  version: string;
  graph: Graph;
  at: string;
}

const keyOf = (projectId: string, id: string): string => `tidings.automation.${projectId}.${id}`;

type Keeper = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Null where there is none, or one that cannot be read. */
export function readDraft(keeper: Keeper, projectId: string, id: string): Draft | null {
  try {
    const draft = JSON.parse(keeper.getItem(keyOf(projectId, id)) ?? 'null') as Draft | null;
    return draft && Array.isArray(draft.graph?.steps) && Array.isArray(draft.graph.transitions) ? draft : null;
  } catch {
    // Somebody else's words under our name: there is no draft then.
    return null;
  }
}

/** Keeps it; `false` where the browser has no room or does not let. */
export function keepDraft(keeper: Keeper, projectId: string, id: string, draft: Draft | null): boolean {
  try {
    if (draft) keeper.setItem(keyOf(projectId, id), JSON.stringify(draft));
    else keeper.removeItem(keyOf(projectId, id));
    return true;
  } catch {
    return false;
  }
}
