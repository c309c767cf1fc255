import { readStoredDraft } from '../../../parts/record-edit/stored-drafts.ts';
import type { Graph } from './graph.ts';

/** A graph with unsaved changes. */
export interface GraphDraft {
  /** The version that the changes are based on. */
  version: string;
  graph: Graph;
  /** The graph that was saved in that version. */
  base?: Graph;
}

/** Reads the graph that this browser has stored. Undefined if the browser has no graph, or if it cannot be shown. */
export function readGraphDraft(key: string): GraphDraft | undefined {
  const draft = readStoredDraft<GraphDraft>(key)?.draft;
  return draft && Array.isArray(draft.graph?.steps) && Array.isArray(draft.graph.transitions) ? draft : undefined;
}
