import type { Generated } from 'kysely';
import type { PeriodicKind } from '../../rules/periodic-work.ts';
import type { GeneratedTimestamp, Timestamp } from './columns.ts';

/** The state that operators monitor. */
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
  /** When the row was created. Until a first round has ended, this counts as the end of the last round. */
  known_since: GeneratedTimestamp;
  began_at: Timestamp | null;
  ended_at: Timestamp | null;
  duration_ms: number | null;
  /** Number of parts that the last round did not start or did not complete. */
  unfinished: Generated<number>;
  /** Parts that failed in the last round, or did not complete. The next round runs them last. */
  failing: Generated<string[]>;
  /** The part after which the next round starts. Null means the first part. */
  resume_after: string | null;
  last_error: string | null;
  last_error_at: Timestamp | null;
}
