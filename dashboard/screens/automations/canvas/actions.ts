import { createContext, useContext } from 'react';
import type { InsertPoint } from '../graph/graph.ts';
import type { CountOf } from '../step-counts.tsx';

/** Actions on the canvas. The functions never change, so that no node is redrawn for them. */
export interface CanvasActions {
  onAdd: (place: InsertPoint) => void;
  /** Lists the contacts that a step's count counts. */
  onCount: (stepId: string, count: CountOf) => void;
  /** The address that shows them. */
  countHref: (stepId: string, count: CountOf) => string;
}

export const CanvasActionsContext = createContext<CanvasActions>({ onAdd() {}, onCount() {}, countHref: () => '' });

export function useCanvasActions(): CanvasActions {
  return useContext(CanvasActionsContext);
}
