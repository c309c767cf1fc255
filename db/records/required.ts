import { AppError } from '../../rules/errors.ts';

/**
 * Returns a row that was read by its id.
 * @throws AppError NOT_FOUND when the project has no such row
 */
export function requireRow<T>(row: T | undefined): T {
  if (!row) throw new AppError('NOT_FOUND');
  return row;
}
