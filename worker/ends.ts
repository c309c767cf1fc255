import type { InjectedSinks } from '@temporalio/worker';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { EndSinks } from '../workflows/report-end.ts';

/** The types of workflows whose ends the worker logs, each with its name in the log. */
const NAMES: Record<string, string> = {
  contactExecution: 'run',
  campaignSend: 'campaign',
  bulkJob: 'job',
  contactImport: 'job',
};

/**
 * Creates the functions (in Temporal's terms, sinks) that a workflow calls when it ends, and that log the end.
 * Temporal's SDK does not call them during a replay, because the end was logged before.
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
