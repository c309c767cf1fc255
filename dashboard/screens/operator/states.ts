import type { ResponseOf } from '../../api/client.ts';

type HealthResponse = ResponseOf<'getOperatorHealth'>;

/** Healthy, needs attention, or unreachable. */
export type FactState = 'healthy' | 'attention' | 'unreachable';

/** If more than this share of Postgres's connections is in use, few connections are left for a peak. */
const CONNECTIONS_SHARE = 0.8;
/** The longest transactions of the service take a minute or two. */
const TRANSACTION_SECONDS = 300;
/** A worker claims a row within a second. Older rows wait for earlier rows, a send rate or Temporal. */
export const OLD_SECONDS = 30;

/** The parts of an installation, in the order in which they are shown. */
const PARTS = ['postgres', 'temporal', 'outbox', 'periodicWork', 'processes'] as const;

/** Returns the state of each part of the installation. */
export function findStates(health: HealthResponse): Record<(typeof PARTS)[number], FactState> {
  const { postgres, temporal, outbox, periodicWork, processes } = health;
  const isSlow = isNearConnectionLimit(postgres) || hasLongTransaction(postgres);
  const isOld = outbox.some(({ oldestSeconds, failing }) => oldestSeconds > OLD_SECONDS || failing > 0);
  const isLate = periodicWork.some(({ late, failing, backlog }) => late || failing.length > 0 || backlog > 0);
  return {
    postgres: isSlow ? 'attention' : 'healthy',
    temporal: temporal.reached
      ? temporal.queues.some(({ pollers }) => pollers === 0)
        ? 'attention'
        : 'healthy'
      : 'unreachable',
    outbox: isOld ? 'attention' : 'healthy',
    periodicWork: isLate ? 'attention' : 'healthy',
    processes: findProcessState(processes),
  };
}

/** Returns the parts that need attention, and the worst of their states. */
export function summarizeHealth(health: HealthResponse): { state: FactState; parts: (typeof PARTS)[number][] } {
  const states = findStates(health);
  const parts = PARTS.filter((part) => states[part] !== 'healthy');
  if (parts.length === 0) return { state: 'healthy', parts };
  return { state: parts.some((part) => states[part] === 'unreachable') ? 'unreachable' : 'attention', parts };
}

/** Returns whether few connections are left for a peak. */
export function isNearConnectionLimit({ connections, maxConnections }: HealthResponse['postgres']): boolean {
  return connections > CONNECTIONS_SHARE * maxConnections;
}

/** Returns whether a transaction has been open longer than any transaction of the service. */
export function hasLongTransaction({ longestTransactionSeconds }: HealthResponse['postgres']): boolean {
  return longestTransactionSeconds > TRANSACTION_SECONDS;
}

function findProcessState(processes: HealthResponse['processes']): FactState {
  const alive = processes.filter((process) => process.alive);
  if (!alive.some(({ kind }) => kind === 'worker')) return 'unreachable';
  return alive.length < processes.length || new Set(alive.map(({ build }) => build)).size > 1 ? 'attention' : 'healthy';
}
