/** Sorts before all project ids, so turns start with the first project. */
export const BEFORE_ALL_PROJECTS = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the project that a claim served last. The claim went through the projects in the order of their ids, from the
 * project after `after`, and continued with the first project after the last project. The next claim starts after the
 * returned project. JavaScript sorts these ids in the same order as Postgres.
 */
export function lastServedProject(rows: { projectId: string }[], after: string): string {
  const served = rows.map((row) => row.projectId).sort();
  return served.findLast((id) => id <= after) ?? served.at(-1) ?? after;
}
