import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { describeFailure, readStackFrames } from '../rules/failure-text.ts';

/**
 * Creates an interceptor that replaces errors of activities. Temporal stores an error in the history and shows it in
 * its UI, and the SDK logs it, so the error must not quote personal data. An unexpected error becomes a failure without
 * its text. Failures that activities create on purpose contain only fixed messages, codes, ids and times, and pass
 * unchanged. Cancellations pass unchanged too.
 */
export function createSafeFailuresInterceptor(): ActivityInboundCallsInterceptor {
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
  if (error instanceof Error) failure.stack = `${type}: ${message}\n${readStackFrames(error)}`;
  return failure;
}
