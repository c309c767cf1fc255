import { createContext, useContext } from 'react';
import type { InsertPoint } from '../graph/graph.ts';
import type { StepCountKind } from '../step-counts.tsx';

/** Actions on the canvas. Each function is the same object in all renders, so it causes no redraw of a node. */
export interface CanvasActions {
  onAdd: (insertPoint: InsertPoint) => void;
  /** Opens the list of the contacts that a count of a step includes. */
  onCount: (stepId: string, count: StepCountKind) => void;
  /** Returns the URL of the list that `onCount` opens. */
  countHref: (stepId: string, count: StepCountKind) => string;
}

export const CanvasActionsContext = createContext<CanvasActions>({ onAdd() {}, onCount() {}, countHref: () => '' });

export function useCanvasActions(): CanvasActions {
  return useContext(CanvasActionsContext);
}
