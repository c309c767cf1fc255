import type { Reason } from '../emails/reasons.ts';
import { AppError } from '../errors.ts';
import type { EmailTemplates } from './email-text.ts';

/** The part of the content with the error, by the name of the API's field. */
export type TemplateField = keyof EmailTemplates | 'text';

/** A template that does not parse, uses a refused construct, or exceeds a limit; `line` and `column` start at 1. */
export class TemplateError extends Error {
  readonly reason: Reason = 'template_error';
  readonly line: number;
  readonly column: number;
  readonly field: TemplateField;

  constructor(message: string, at: { line?: number; column?: number; field?: TemplateField; cause?: unknown } = {}) {
    super(message, { cause: at.cause });
    this.name = 'TemplateError';
    this.line = at.line ?? 1;
    this.column = at.column ?? 1;
    this.field = at.field ?? 'body';
  }
}

/**
 * Returns the 422 of a template error, with line and column in the message and in `details`. Source: contract §4.2
 * Limits of a template.
 */
export function templateRefusal(error: TemplateError): AppError {
  const { field, line, column, message } = error;
  return new AppError('VALIDATION_ERROR', {
    errors: [{ field, message: `${message} (line ${line}, column ${column})`, code: 'custom' }],
    details: { line, column },
    cause: error,
  });
}
