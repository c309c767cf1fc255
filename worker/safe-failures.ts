import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { describeFailure, stackFrames } from '../rules/failure-text.ts';

/**
 * Replaces an error that an activity throws with a failure that quotes nothing, because Temporal keeps it in the
 * history and shows it in the UI, and the SDK logs it. Failures that activities create themselves hold only codes and
 * instants, and pass unchanged; so does a cancellation.
 */
export function safeFailures(): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw toSafeFailure(error);
      }
    },
  };
}

function toSafeFailure(error: unknown): unknown {
  if (error instanceof TemporalFailure || (error instanceof Error && error.name === 'AbortError')) return error;
  const message = describeFailure(error);
  const type = error instanceof Error ? error.name : 'Error';
  const failure = ApplicationFailure.create({ type, message });
  if (error instanceof Error) failure.stack = `${type}: ${message}\n${stackFrames(error)}`;
  return failure;
}
