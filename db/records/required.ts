import { AppError } from '../../rules/errors.ts';

/** A row that was asked for by its id. @throws AppError NOT_FOUND when the project has none such */
export function requireRow<T>(row: T | undefined): T {
  if (!row) throw new AppError('NOT_FOUND');
  return row;
}
