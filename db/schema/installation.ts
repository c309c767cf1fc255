import type { Generated } from 'kysely';
import type { InstallationChoice, SendingHold } from '../../rules/installation-tokens.ts';
import type { GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** The identity that tells this installation from others on the same Temporal namespace. */
export interface InstallationTables {
  installation: InstallationTable;
  installation_tokens: InstallationTokensTable;
}

/** One row, which the migration makes. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  /** A random UUID (version 4); names carry its first 8 characters. */
  id: Generated<string>;
  created_at: GeneratedTimestamp;
  /** Rows with an earlier id keep the names of the earlier release. Null if no earlier release ran. */
  legacy_before: NullableTimestamp;
  /** When the workers stopped serving the task queues of the earlier release; null until then. */
  legacy_closed_at: NullableTimestamp;
  /** Why nothing is sent: a clone waits for its operator, or a restored database for its recovery. */
  sending_hold: SendingHold | null;
  sending_held_at: NullableTimestamp;
  /** Recovery is due, for what happened from this instant on; null when it is done. */
  recovery_since: NullableTimestamp;
  /** Until then the process that recovers is taken to be alive. */
  recovery_leased_until: NullableTimestamp;
  /** The value of INSTALLATION that has resolved a mismatch, until a process starts without it. */
  resolved_by: InstallationChoice | null;
}

/** The last tokens of the installation, one a minute. Temporal keeps the newest in the workflow `installation`. */
export interface InstallationTokensTable {
  no: number;
  value: string;
  rolled_at: GeneratedTimestamp;
  /** Temporal has it, too. */
  confirmed: Generated<boolean>;
  /** Identifier of the server and the database that wrote the token. Null if Postgres does not report it. */
  system_identifier: string | null;
  database_oid: number;
}
