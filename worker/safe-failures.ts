import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { describeFailure, stackFrames } from '../rules/failure-text.ts';

/**
 * Replaces an error that an activity throws with a failure that quotes no data. Temporal keeps failures in the history
 * and shows them in its UI, and the SDK logs them. Failures that activities create on purpose contain only codes and
 * instants, and pass unchanged, as do cancellations.
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
