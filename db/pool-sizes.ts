/** Connections to Postgres of one API process: accepting goes in groups, so few are enough. */
export const API_CONNECTIONS = 16;
/** For what people look at. Who finds all of them taken waits, and so does nobody else. */
export const API_READ_CONNECTIONS = 4;
/** Of one worker process: bulk work and a few dozen short transactions at a time. */
export const WORKER_CONNECTIONS = 20;
/** Every process keeps one besides that only listens. */
const LISTENING = 1;

/** The most connections that one API and so many workers open. */
export function connectionsOf(p: { workers: number }): number {
  return API_CONNECTIONS + API_READ_CONNECTIONS + LISTENING + p.workers * (WORKER_CONNECTIONS + LISTENING);
}
