/** Before all projects: turns begin with the first. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * The project whose turn was the last of a claim that began behind `after` and went round: the next claim begins behind
 * it. Ids compare as Postgres compares them.
 */
export function lastServed(rows: { projectId: string }[], after: string): string {
  const served = rows.map((row) => row.projectId).sort();
  return served.findLast((id) => id <= after) ?? served.at(-1) ?? after;
}
