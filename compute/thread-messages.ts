import { TemplateError, type TemplateField } from '../rules/content/template-error.ts';
import { AppError, type ErrorCode, type FieldError } from '../rules/errors.ts';
import { isLimitError, TimeLimitExceeded } from '../rules/time-limit.ts';
import type { TaskName } from './tasks.ts';

/** A message to a thread: the task to run. */
export interface TaskMessage {
  id: number;
  name: TaskName;
  input: unknown;
}

/** The reply of a thread: the result of the task, or its error. */
export type TaskReply = { id: number; cpuMs: number } & ({ value: unknown } | { error: PortableError });

/** An error in the form that is sent between threads, which cannot send classes. */
export type PortableError =
  | { kind: 'template'; message: string; line: number; column: number; field: TemplateField; timedOut: boolean }
  | { kind: 'timeLimit'; message: string }
  | { kind: 'app'; code: ErrorCode; message: string; errors: FieldError[] | undefined; suggestion: string }
  | { kind: 'other'; message: string; stack: string | undefined };

export function toPortableError(error: unknown): PortableError {
  if (error instanceof TemplateError) {
    const { message, line, column, field } = error;
    return { kind: 'template', message, line, column, field, timedOut: isLimitError(error) };
  }
  if (error instanceof TimeLimitExceeded) return { kind: 'timeLimit', message: error.message };
  if (error instanceof AppError) {
    const { code, message, errors, suggestion } = error;
    return { kind: 'app', code, message, errors, suggestion };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { kind: 'other', message, stack };
}

/** Recreates the error that a thread has sent. */
export function fromPortableError(error: PortableError): Error {
  switch (error.kind) {
    case 'template': {
      const { message, timedOut, ...at } = error;
      return new TemplateError(message, { ...at, cause: timedOut ? new TimeLimitExceeded(message) : undefined });
    }
    case 'timeLimit':
      return new TimeLimitExceeded(error.message);
    case 'app': {
      const { code, message, errors, suggestion } = error;
      return new AppError(code, { message, errors, suggestion });
    }
    case 'other':
      return Object.assign(new Error(error.message), error.stack !== undefined && { stack: error.stack });
  }
}

/**
 * Returns the buffers that can be transferred to another thread: buffers that one of these arrays covers completely. An
 * array that covers only a part of a buffer must be copied, because other code may use the rest.
 */
export function listTransferableBuffers(all: Uint8Array[]): ArrayBuffer[] {
  const buffers = all.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0 ? [buffer] : [],
  );
  return [...new Set(buffers)];
}
