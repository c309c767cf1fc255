import { createContext, useContext } from 'react';
import type { FieldChoice } from './choices.ts';
import { type ConditionFaults, NO_FAULTS } from './faults.ts';
import type { ConditionScope } from './language.ts';

/** Context that every row of a builder needs. */
export interface Builder {
  scope: ConditionScope;
  choices: readonly FieldChoice[];
  faults: ConditionFaults;
  /** The key of the row that was just added, which gets the focus. */
  freshKey: string | undefined;
  markFresh: (key: string) => void;
}

export const BuilderContext = createContext<Builder>({
  scope: 'audience',
  choices: [],
  faults: NO_FAULTS,
  freshKey: undefined,
  markFresh: () => {},
});

export function useBuilder(): Builder {
  return useContext(BuilderContext);
}
