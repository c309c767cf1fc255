/** An id that sorts before all project ids. With it, a claim starts with the first project. */
export const BEFORE_ALL_PROJECTS = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the project that a claim served last. A claim serves the projects in ascending order of their ids. It starts
 * with the first project whose id is higher than `previous`. After the highest id, it continues with the lowest id. The
 * next claim gets the returned project as `previous`. JavaScript sorts these ids in the same order as Postgres.
 */
export function findLastServedProject(rows: { projectId: string }[], previous: string): string {
  const served = rows.map((row) => row.projectId).sort();
  return served.findLast((id) => id <= previous) ?? served.at(-1) ?? previous;
}
