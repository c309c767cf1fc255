import { WorkflowNotFoundError } from '@temporalio/client';
import type { TemporalToken } from '../rules/installation-tokens.ts';
import type { QueueReading } from '../rules/queue-stats.ts';
import type { installation } from '../workflows/registry.ts';
import type { Target } from './names.ts';
import { toSearchAttributes } from './search-attributes.ts';

/**
 * The number of latest history events to read. These events always include a token, because each token is one event,
 * followed by only the three events of the workflow task that processes the token.
 */
const EVENTS_READ = 50;

/**
 * Reads the installation's token from the history of its Temporal workflow. The history can be read before any worker
 * runs. Null if Temporal has no such workflow.
 */
export async function readToken({ client, names }: Target): Promise<TemporalToken | null> {
  const workflowId = names.installation();
  const description = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
  if (!description) return null;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId: description.runId },
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
  // The events are in descending order. If two tokens have the same number, the newer one is used, because it is the
  // result of a resolved mismatch.
  return tokens.reduce<TemporalToken | null>(
    (newest, token) => (newest && newest.no >= token.no ? newest : token),
    null,
  );
}

/**
 * Signals the next token to the installation's workflow, and starts the workflow if it does not exist. Safe to run
 * twice with the same token. The state of the task queues (`reading`) is a separate argument of the signal, which
 * workers of earlier releases ignore.
 */
export async function writeToken(
  { client, names }: Target,
  token: TemporalToken,
  reading?: QueueReading,
): Promise<void> {
  await client.workflow.signalWithStart<typeof installation, [TemporalToken, QueueReading?]>('installation', {
    workflowId: names.installation(),
    taskQueue: names.taskQueue('workflows'),
    typedSearchAttributes: toSearchAttributes(names, {}),
    args: [token],
    signal: 'roll',
    signalArgs: reading ? [token, reading] : [token],
    staticSummary: 'task queues, and the token that distinguishes this installation from a clone',
  });
}
