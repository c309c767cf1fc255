import { createContext, useContext } from 'react';
import type { InsertPoint } from '../graph/graph.ts';
import type { CountOf } from '../step-counts.tsx';

/** What can be done on the canvas; the same functions for its whole life, so that no node is drawn again for them. */
export interface CanvasActions {
  onAdd: (place: InsertPoint) => void;
  /** Shows whom a count of a step counts. */
  onCount: (stepId: string, count: CountOf) => void;
  /** The address that shows them. */
  countHref: (stepId: string, count: CountOf) => string;
}

export const CanvasActionsContext = createContext<CanvasActions>({ onAdd() {}, onCount() {}, countHref: () => '' });

export function useCanvasActions(): CanvasActions {
  return useContext(CanvasActionsContext);
}
