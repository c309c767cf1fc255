import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { TemporalToken } from '../rules/installation-tokens.ts';
import { formatQueueTable, type QueueReading } from '../rules/queue-stats.ts';
import { showDetails } from './current-details.ts';

/**
 * A run continues as new after this many tokens. The run has then lasted about four hours, and its history has about
 * 1,000 events.
 */
const ROLLS_A_RUN = 240;

/**
 * Signals that the installation has a new token. The second argument is the state of the task queues. This argument is
 * missing if the state could not be read, and in signals of earlier releases.
 */
export const rollSignal = defineSignal<[TemporalToken, QueueReading?]>('roll');

/**
 * Stores the token of an installation in Temporal. Processes read the token from the workflow's history, which is
 * possible before any worker runs. The code of the workflow only keeps this history short and shows the state. A token
 * that arrives late never replaces a newer token. The current details show the task queues, because the Temporal UI has
 * no other page with their backlog.
 */
export async function installation(token: TemporalToken, reading?: QueueReading): Promise<void> {
  let newest = token;
  let newestReading = reading;
  let rolls = 0;
  const show = () => {
    const queues = newestReading ? `${formatQueueTable(newestReading)}\n\n` : '';
    showDetails(`${queues}Token ${newest.no} of ${newest.rolledAt}`);
  };
  show();
  setHandler(rollSignal, (next, nextReading) => {
    rolls += 1;
    if (next.no >= newest.no) newest = next;
    newestReading = nextReading ?? newestReading;
    show();
  });
  await condition(() => rolls >= ROLLS_A_RUN || workflowInfo().continueAsNewSuggested);
  await continueAsNew<typeof installation>(newest, newestReading);
}
