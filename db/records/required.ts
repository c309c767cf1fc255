import { AppError } from '../../rules/errors.ts';

/**
 * Returns the row that a query by id found, and throws if the query found none.
 * @throws AppError NOT_FOUND when `row` is undefined
 */
export function requireRow<T>(row: T | undefined): T {
  if (!row) throw new AppError('NOT_FOUND');
  return row;
}
