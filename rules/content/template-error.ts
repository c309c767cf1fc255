import type { Reason } from '../emails/reasons.ts';
import { AppError } from '../errors.ts';
import type { EmailTemplates } from './email-text.ts';

/** The field of the API that contains the template. `text` is the author's own text part. */
export type TemplateField = keyof EmailTemplates | 'text';

/**
 * The error of a template that has invalid syntax, uses a refused construct, or exceeds a limit. `line` and `column`
 * start at 1.
 */
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
 * Converts a template error to a 422 response, with line and column in the message and in `details`. Source: contract
 * §4.2 Limits of a template.
 */
export function toTemplateRefusal(error: TemplateError): AppError {
  const { field, line, column, message } = error;
  return new AppError('VALIDATION_ERROR', {
    errors: [{ field, message: `${message} (line ${line}, column ${column})`, code: 'custom' }],
    details: { line, column },
    cause: error,
  });
}
