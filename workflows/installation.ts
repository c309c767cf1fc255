import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { TemporalToken } from '../rules/installation-tokens.ts';

/** The number of tokens after which a run continues as new: four hours, and about 1,000 events. */
const ROLLS_A_RUN = 240;

/** The installation's token has changed. */
export const rollSignal = defineSignal<[TemporalToken]>('roll');

/**
 * Keeps the token of an installation in Temporal. Processes read it from the history, so that it can be read before any
 * worker runs; this workflow only keeps the history short. A token that arrives late never replaces a newer one.
 */
export async function installation(token: TemporalToken): Promise<void> {
  let newest = token;
  let rolls = 0;
  setHandler(rollSignal, (next) => {
    rolls += 1;
    if (next.no >= newest.no) newest = next;
    setCurrentDetails(`Token ${newest.no} of ${newest.rolledAt}`);
  });
  await condition(() => rolls >= ROLLS_A_RUN || workflowInfo().continueAsNewSuggested);
  await continueAsNew<typeof installation>(newest);
}
