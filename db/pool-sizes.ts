/** Connections to Postgres of one API process. Few are enough, because requests are accepted in groups. */
export const API_CONNECTIONS = 16;
/** Connections for reads by users of the dashboard. If all are in use, only these reads wait. */
export const API_READ_CONNECTIONS = 4;
/** Connections of one worker process: bulk work and a few dozen short transactions at a time. */
export const WORKER_CONNECTIONS = 20;
/** Each process also has one connection that only listens. */
const LISTENING = 1;

/** Returns the maximum number of connections of one API and this many workers. */
export function connectionsOf(p: { workers: number }): number {
  return API_CONNECTIONS + API_READ_CONNECTIONS + LISTENING + p.workers * (WORKER_CONNECTIONS + LISTENING);
}
