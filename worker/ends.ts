import type { InjectedSinks } from '@temporalio/worker';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { EndSinks } from '../workflows/end.ts';

/** Workflows whose ends an operator follows: one line each. */
const NAMES: Record<string, string> = {
  contactExecution: 'run',
  campaignSend: 'campaign',
  bulkJob: 'job',
  contactImport: 'job',
};

/** Writes the ends of workflows to the log, but not of those that are replayed: these have ended before. */
export function endSinks(log: SampledLog): InjectedSinks<EndSinks> {
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
