import { createContext, useContext } from 'react';
import type { Place } from '../graph/graph.ts';

/** What can be done on the canvas; the same functions for its whole life, so that no node is drawn again for them. */
export interface CanvasActions {
  onAdd: (place: Place) => void;
  onPeople: (stepId: string) => void;
}

export const CanvasActionsContext = createContext<CanvasActions>({ onAdd() {}, onPeople() {} });

export function useCanvasActions(): CanvasActions {
  return useContext(CanvasActionsContext);
}
