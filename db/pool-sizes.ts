/**
 * Connections to Postgres of one API process. So few connections are enough, because requests to send are accepted in
 * groups.
 */
export const API_CONNECTIONS = 16;
/**
 * Additional connections of an API process, for reads that users and API keys request, such as lists and statistics
 * (`Deps.reads`). If all these connections are in use, only such reads wait.
 */
export const API_READ_CONNECTIONS = 4;
/** Connections of one worker process, for bulk work and a few dozen concurrent short transactions. */
export const WORKER_CONNECTIONS = 20;
/** Each process has one more connection, which only waits for notifications (LISTEN). */
const LISTENING = 1;

/** Returns the maximum number of connections of one API process and this many worker processes. */
export function countConnections(p: { workers: number }): number {
  return API_CONNECTIONS + API_READ_CONNECTIONS + LISTENING + p.workers * (WORKER_CONNECTIONS + LISTENING);
}
