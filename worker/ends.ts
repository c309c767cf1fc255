import type { InjectedSinks } from '@temporalio/worker';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { EndSinks } from '../workflows/end.ts';

/** The types of workflows whose ends the worker logs, each with its name in the log. */
const NAMES: Record<string, string> = {
  contactExecution: 'run',
  campaignSend: 'campaign',
  bulkJob: 'job',
  contactImport: 'job',
};

/**
 * Creates the sinks with which workflows report their ends to the log. Temporal's SDK does not call them during a
 * replay, because these ends are already in the log.
 */
export function createEndSinks(log: SampledLog): InjectedSinks<EndSinks> {
  return {
    ends: {
      ended: {
        fn: ({ workflowId, runId }, { type, ids, ...end }) => {
          const name = NAMES[type];
          if (name) log(`a ${name} has ended`, () => ({ ...ids, workflowId, runId, ...end }));
        },
        callDuringReplay: false,
      },
    },
  };
}
