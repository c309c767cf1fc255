import { WorkflowNotFoundError } from '@temporalio/client';
import type { TemporalToken } from '../rules/installation-tokens.ts';
import type { QueueReading } from '../rules/queue-stats.ts';
import type { installation } from '../workflows/registry.ts';
import type { Target } from './names.ts';
import { searchAttributes } from './search-attributes.ts';

/**
 * The number of latest events to read. They always include a token, because each token is followed by only three events
 * of the workflow's task.
 */
const EVENTS_READ = 50;

/**
 * Reads the installation's token from the history of its workflow, so that it can be read before any worker runs.
 * Null if Temporal knows no such workflow.
 */
export async function readToken({ client, names }: Target): Promise<TemporalToken | null> {
  const workflowId = names.installation();
  const found = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
  if (!found) return null;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId: found.runId },
    maximumPageSize: EVENTS_READ,
  });
  const payloads = (history?.events ?? []).flatMap(
    (event) =>
      event.workflowExecutionSignaledEventAttributes?.input?.payloads?.[0] ??
      event.workflowExecutionStartedEventAttributes?.input?.payloads?.[0] ??
      [],
  );
  const tokens = payloads.map((payload) =>
    client.options.loadedDataConverter.payloadConverter.fromPayload<TemporalToken>(payload),
  );
  // The newest event comes first. If two tokens have the same number, the newer one counts, because it shows how a
  // mismatch was resolved.
  return tokens.reduce<TemporalToken | null>(
    (newest, token) => (newest && newest.no >= token.no ? newest : token),
    null,
  );
}

/**
 * Signals the next token to Temporal, and starts the workflow if it is missing. Safe to repeat with the same token. A
 * reading of the task queues is an argument of its own, which workers of earlier versions ignore.
 */
export async function writeToken(
  { client, names }: Target,
  token: TemporalToken,
  reading?: QueueReading,
): Promise<void> {
  await client.workflow.signalWithStart<typeof installation, [TemporalToken, QueueReading?]>('installation', {
    workflowId: names.installation(),
    taskQueue: names.taskQueue('workflows'),
    typedSearchAttributes: searchAttributes(names, {}),
    args: [token],
    signal: 'roll',
    signalArgs: reading ? [token, reading] : [token],
    staticSummary: 'task queues, and the token that tells this installation from a clone',
  });
}
