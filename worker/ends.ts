import type { InjectedSinks } from '@temporalio/worker';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { EndSinks } from '../workflows/end.ts';

/** The workflows whose ends are logged, one line each. */
const NAMES: Record<string, string> = {
  contactExecution: 'run',
  campaignSend: 'campaign',
  bulkJob: 'job',
  contactImport: 'job',
};

/** Logs the ends of workflows, but not during a replay, because those ends are logged already. */
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
