import type { Generated } from 'kysely';
import type { GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** What tells this installation from others on the same Temporal namespace. */
export interface InstallationTables {
  installation: InstallationTable;
}

/** One row, which the migration makes. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  /** A random UUID (version 4); names carry its first 8 characters. */
  id: Generated<string>;
  created_at: GeneratedTimestamp;
  /** Rows with an earlier id keep the names of the earlier release; null where no earlier release ran. */
  legacy_before: NullableTimestamp;
  /** When the workers stopped serving the task queues of the earlier release; null until then. */
  legacy_closed_at: NullableTimestamp;
}
