import type { Generated } from 'kysely';
import type { PeriodicKind } from '../../rules/periodic-work.ts';
import type { GeneratedTimestamp, Timestamp } from './columns.ts';

/** State that the operator of the service monitors. */
export interface OperationTables {
  processes: ProcessesTable;
  periodic_work: PeriodicWorkTable;
}

export interface ProcessesTable {
  id: string;
  kind: 'api' | 'worker';
  host: string;
  pid: number;
  version: string;
  build: string;
  started_at: Timestamp;
  seen_at: GeneratedTimestamp;
}

export interface PeriodicWorkTable {
  kind: PeriodicKind;
  /** When the row was created. It is used as the end of the last round until a first round has ended. */
  known_since: GeneratedTimestamp;
  began_at: Timestamp | null;
  ended_at: Timestamp | null;
  duration_ms: number | null;
  /** Parts that the last round did not get to, or did not finish. */
  unfinished: Generated<number>;
  /** Parts that failed in the last round, or did not end in it. The next round runs them last. */
  failing: Generated<string[]>;
  /** The part after which the next round starts. Null starts with the first part. */
  resume_after: string | null;
  last_error: string | null;
  last_error_at: Timestamp | null;
}
