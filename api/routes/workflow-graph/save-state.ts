import type { Trx } from '../../../db/connection.ts';
import type { WorkflowDetail } from '../../../db/workflows/workflows.ts';
import { AppError, type FieldError } from '../../../rules/errors.ts';
import type { GraphInput } from './input.ts';

/** State of a graph that is being saved. */
export interface GraphSaveState {
  trx: Trx;
  projectId: string;
  workflowId: string;
  secretKey: string;
  /** Whether WEBHOOK steps may call private addresses. */
  allowPrivate: boolean;
  graph: GraphInput;
  current: WorkflowDetail;
  /** Stored ids of steps, by the `id` that each has in the request. */
  ids: Map<string, string>;
  /** Errors that have been found so far. `throwCollectedErrors` throws them together. */
  refused: FieldError[];
}

/**
 * Returns the stored id of a step of the graph. `name` is the `id` that the step has in the request.
 * @throws Error if the graph has no such step; `saveGraph` has refused such a name before
 */
export function getStepId({ ids }: GraphSaveState, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the graph has no step ${name}`);
  return id;
}

/**
 * Runs `work` and returns its result. If `work` throws a validation error, records the error with the path `place` and
 * returns undefined. The transaction must then not be committed.
 */
export function collectErrors<Value>(saving: GraphSaveState, place: string, work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    recordErrors(saving, place, error);
    return undefined;
  }
}

/**
 * Records the field errors of an error at `place`.
 * @throws errors that are not about a field
 */
export function recordErrors({ refused }: GraphSaveState, place: string, error: unknown): void {
  const errors = error instanceof AppError ? readFieldErrors(error) : undefined;
  if (!errors) throw error;
  refused.push(...errors.map((fault) => ({ ...fault, field: `${place}.${fault.field}`.replace(/\.$/, '') })));
}

/** Returns the field errors of an error. Undefined for an error that is not about a field. */
function readFieldErrors({ code, message, errors }: AppError): FieldError[] | undefined {
  if (code === 'DOMAIN_NOT_VERIFIED') return [{ field: 'config.from', message, code: 'domain_not_verified' }];
  return code === 'VALIDATION_ERROR' ? (errors ?? [{ field: '', message, code: 'custom' }]) : undefined;
}

/**
 * Throws the recorded errors, if there are any.
 * @throws AppError VALIDATION_ERROR with all errors so far
 */
export function throwCollectedErrors({ refused }: GraphSaveState): void {
  if (refused.length > 0) throw createGraphError('The graph cannot be saved.', refused);
}

export function createGraphError(message: string, errors: FieldError[]): AppError {
  return new AppError('VALIDATION_ERROR', { message, errors });
}
