import type { ActivityDeps } from '../deps.ts';
import { recoverLostWork } from '../recovery/lost-work.ts';
import { namedParts, type Parts } from './parts.ts';

/** Takes up what has lost its workflow. */
export function recoveryParts(deps: Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>): Parts {
  return namedParts({
    everything: async ({ messagesOfHours }) => {
      await recoverLostWork(deps, { messagesOfHours });
      return null;
    },
  });
}
