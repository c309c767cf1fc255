import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { ROW_MISSING, RowMissing } from '../rules/row-missing.ts';

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Wraps activities so that a missing row in Postgres makes them fail permanently, with one line in the log. The
 * workflow then ends as Failed. Retrying would be useless, because another attempt would not find the row either.
 */
export function failOnMissingRows<Activities extends Record<string, Activity>>(
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
