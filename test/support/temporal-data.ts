import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** Everything that Temporal stores and shows about one run. */
export interface TemporalData {
  workflowId: string;
  /** The data as JSON, and the decoded payloads as text. */
  text: string;
}

/** Reads everything that Temporal stores about the workflows of a namespace. Tests search it for personal data. */
export async function readAllTemporalData(client: Client): Promise<TemporalData[]> {
  const found: TemporalData[] = [];
  let decoded = 0;
  for await (const { workflowId, runId, memo, searchAttributes } of client.workflow.list()) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const history = historyToJSON(await handle.fetchHistory());
    const payloads = decodePayloads(history);
    decoded += payloads.length;
    const metadata = await handle.query('__temporal_workflow_metadata').catch(() => undefined);
    const { raw } = await handle.describe();
    const pending = JSON.stringify(raw.pendingActivities ?? [], replaceBytes);
    const rest = JSON.stringify({ workflowId, memo, searchAttributes, payloads, metadata, pending });
    found.push({ workflowId, text: `${rest}\n${history}` });
  }
  // If the payloads were not decoded, a search of them would find nothing.
  if (decoded === 0) throw new Error('no payload of a history was decoded');
  return found;
}

/** Returns the summaries of the activities and timers of a run, in order. */
export async function listSummaries(client: Client, workflowId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { userMetadata, activityTaskScheduledEventAttributes: activity, timerStartedEventAttributes: timer } = event;
    const summary = userMetadata?.summary?.data;
    const text = summary ? JSON.parse(Buffer.from(summary).toString()) : undefined;
    if (text === undefined || !(activity || timer)) return [];
    return [activity ? `${activity.activityType?.name}: ${text}` : `timer: ${text}`];
  });
}

/** Returns the payloads of a history as strings: inputs, results, summaries, memos and search attributes. */
function decodePayloads(history: string): string[] {
  return [...history.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  );
}

/** Replaces bytes by their text. */
function replaceBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const bytes = this[key];
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : value;
}
