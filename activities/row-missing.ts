import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { ROW_MISSING, RowMissing } from '../rules/row-missing.ts';

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Wraps activities so that a missing record fails them permanently, with one line in the log. Another attempt would not
 * find the record either, so the workflow ends as Failed.
 */
export function failingWithoutRow<Activities extends Record<string, Activity>>(
  log: Logger,
  activities: Activities,
): Activities {
  const entries = Object.entries(activities).map(([name, run]) => [name, failOnMissingRow(log, run)]);
  return Object.fromEntries(entries) as Activities;
}

function failOnMissingRow(log: Logger, run: Activity): Activity {
  return async (...args) => {
    try {
      return await run(...args);
    } catch (error) {
      if (!(error instanceof RowMissing)) throw error;
      const { kind, id } = error;
      const { workflowExecution } = Context.current().info;
      log.error(
        { kind, id, ...workflowExecution, code: ROW_MISSING },
        'a workflow failed because its record is missing',
      );
      throw ApplicationFailure.nonRetryable(error.message, ROW_MISSING);
    }
  };
}
