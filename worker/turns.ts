/** Comes before all project ids, so turns start with the first project. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the project that was served last by a claim that started after `after` and wrapped around. The next claim
 * starts after it. Ids compare as in Postgres.
 */
export function lastServed(rows: { projectId: string }[], after: string): string {
  const served = rows.map((row) => row.projectId).sort();
  return served.findLast((id) => id <= after) ?? served.at(-1) ?? after;
}
