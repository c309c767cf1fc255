/** An id that sorts before all project ids. With it, a claim starts with the first project. */
export const BEFORE_ALL_PROJECTS = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the project that a claim served last. A claim serves the projects in the order of their ids, starting after
 * `after`; after the last project it continues with the first project. The next claim starts after the returned
 * project. JavaScript sorts these ids in the same order as Postgres.
 */
export function findLastServedProject(rows: { projectId: string }[], after: string): string {
  const served = rows.map((row) => row.projectId).sort();
  return served.findLast((id) => id <= after) ?? served.at(-1) ?? after;
}
