import type { Client } from '@temporalio/client';
import { arrayFromPayloads } from '@temporalio/common';
import { type CampaignInput, NEW_CAMPAIGN } from '../rules/campaigns/campaign.ts';
import type { Next, StepInput } from '../rules/executions/execution.ts';
import { hasSideEffect, STEP_TYPES } from '../rules/executions/steps/registry.ts';

/** The arguments, the completed activities and the failure of a run, read from its history. */
export interface RunHistory {
  /** Completed activities, in the order in which they completed. */
  done: { type: string; input: unknown; result: unknown }[];
  /** The type of the failure, if the run failed. */
  failureType: string | undefined;
  /** The arguments of the run. */
  args: unknown[];
}

type Payloads = { payloads?: Parameters<typeof arrayFromPayloads>[1] } | null | undefined;

/** Reads the history of a run. The cost grows with the length of the history, so callers select few runs first. */
export async function readRunHistory(client: Client, run: { workflowId: string; runId: string }): Promise<RunHistory> {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const { payloadConverter } = client.options.loadedDataConverter;
  const decodePayloads = (list: Payloads): unknown[] => arrayFromPayloads(payloadConverter, list?.payloads);
  const scheduled = new Map<string, { type: string; input: unknown }>();
  const history: RunHistory = { done: [], failureType: undefined, args: [] };
  for (const event of events ?? []) {
    const start = event.workflowExecutionStartedEventAttributes;
    const activity = event.activityTaskScheduledEventAttributes;
    const completed = event.activityTaskCompletedEventAttributes;
    const failed = event.workflowExecutionFailedEventAttributes;
    if (start) history.args = decodePayloads(start.input);
    if (activity) {
      scheduled.set(String(event.eventId), {
        type: activity.activityType?.name ?? '',
        input: decodePayloads(activity.input)[0],
      });
    }
    const from = completed && scheduled.get(String(completed.scheduledEventId));
    if (from) history.done.push({ ...from, result: decodePayloads(completed.result)[0] });
    if (failed) history.failureType = failed.failure?.applicationFailureInfo?.type ?? undefined;
  }
  return history;
}

/**
 * The activities of steps with an effect: they send an email, an SMS or a request, or change the contact. `ADVANCE` has
 * no effect, because it only moves the execution to its next step.
 */
const EFFECTS: ReadonlySet<string> = new Set(STEP_TYPES.filter(hasSideEffect));

/**
 * Finds the position of an execution if its last run is ahead of the row in Postgres: the run has performed an effect
 * at the row's visit or at a later visit. In that case, Postgres was restored from a backup that is older than this
 * effect. Returns the result of the run's last activity.
 * @param visit the visit of the row in Postgres
 */
export function findPositionAhead({ done }: RunHistory, visit: number): Next | undefined {
  const isAhead = done.some(({ type, input, result }) => EFFECTS.has(type) && hasPerformed(input, result, visit));
  return isAhead ? (done.at(-1)?.result as Next | undefined) : undefined;
}

function hasPerformed(input: unknown, result: unknown, visit: number): boolean {
  const step = input as StepInput;
  const next = result as Next;
  if (step.visit < visit) return false;
  if (next.kind !== 'end') return next.visit > step.visit + (step.resume ? 1 : 0);
  // In earlier releases, a run whose row did not exist ended as CANCELLED with this reason. The activity of such a run
  // performed no effect.
  return !(next.status === 'CANCELLED' && next.reason === 'contact_deleted');
}

/**
 * Tells whether a campaign has sent at least one email to the provider, in this run or before it. The history does not
 * show the results of earlier runs, so a chunk that had a turn in an earlier run counts as sent.
 */
export function hasSentChunks({ args, done }: RunHistory): boolean {
  const { state } = (args[0] ?? {}) as Partial<CampaignInput>;
  if (state && state.nextSeq > NEW_CAMPAIGN.nextSeq) return true;
  return done.some(
    ({ type, result }) => type === 'sendCampaignChunk' && ((result as { sent?: number })?.sent ?? 0) > 0,
  );
}
